package io.prmalloc.pool;

import io.prmalloc.OutOfNativeMemoryException;
import io.prmalloc.kept.KeptPlan;
import io.prmalloc.kept.KeptPool;
import io.prmalloc.lifetime.LifetimePlan;
import io.prmalloc.lifetime.MemoryPlanner;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.concurrent.locks.Lock;
import java.util.function.Supplier;

/**
 * Puts plans of the shared pool in force: the first one, or one that was kept, and those that take
 * the place of another.
 *
 * <p>Threading: any thread.
 */
final class Succession {

  private static final Logger LOGGER = System.getLogger(Succession.class.getName());

  private final TensorPoolAllocator pool;
  private final Supplier<Takeover> takeovers;
  private final RetiredBins retired;
  private final Lock lifecycle;
  private final PoolPolicies policies;
  private final double maxOversize;

  Succession(
      TensorPoolAllocator pool,
      TensorPoolBuilder builder,
      Supplier<Takeover> takeovers,
      RetiredBins retired,
      Lock lifecycle) {
    this.pool = pool;
    this.takeovers = takeovers;
    this.retired = retired;
    this.lifecycle = lifecycle;
    this.policies = builder.policies();
    this.maxOversize = builder.maxOversize();
  }

  /** The planner has a plan. Without memory for it the pool goes on as before. */
  void first(LifetimePlan made) {
    try {
      serve(PlanChoice.best(made, policies, maxOversize), false);
    } catch (OutOfNativeMemoryException e) {
      LOGGER.log(Level.WARNING, "no memory for the planned pool, going on without it", e);
    }
  }

  /**
   * There is a plan for other traffic.
   *
   * @param mostBytes if it needs more, the old one stays
   * @return false if the old one stays, also for want of memory for a new one beside it
   */
  boolean next(LifetimePlan made, double mostBytes) {
    try {
      KeptPool chosen = PlanChoice.best(made, policies, maxOversize);
      if (PlanChoice.bytes(chosen) > mostBytes) {
        return false;
      }
      serve(chosen, true);
      return true;
    } catch (OutOfNativeMemoryException e) {
      LOGGER.log(Level.WARNING, "no memory for a new plan, going on with the old one", e);
      return false;
    }
  }

  /**
   * Begins with what another pool has learnt. If that fails, the pool is closed.
   *
   * @throws OutOfNativeMemoryException if there is no memory for it
   */
  void adopt(KeptPlan kept, MemoryPlanner planner, PlannedSteps steps) {
    try {
      if (kept.pool().isPresent() && planner.phase() != MemoryPlanner.Phase.DISABLED) {
        serve(kept.pool().get(), false);
        planner.skip();
      }
      steps.adopt(kept.steps());
    } catch (RuntimeException | Error e) {
      pool.closeForcibly();
      throw e;
    }
  }

  private void serve(KeptPool chosen, boolean replace) {
    lifecycle.lock();
    try {
      BinTable before = pool.bins();
      if (pool.isClosed() || (before != null) != replace) {
        return;
      }
      Takeover takeover = takeovers.get();
      BinTable table = takeover.reserve(chosen.plan(), PlanChoice.blocks(chosen), maxOversize);
      if (before == null) {
        pool.publish(table);
      } else {
        table.countOnFrom(before);
        retired.add(before);
        pool.publish(table);
        retired.release(before);
      }
      takeover.finish(table.arenaBytes(), () -> populate(table));
    } finally {
      lifecycle.unlock();
    }
  }

  private void populate(BinTable table) {
    lifecycle.lock();
    try {
      if (pool.bins() == table) {
        table.populate();
      }
    } finally {
      lifecycle.unlock();
    }
  }
}
