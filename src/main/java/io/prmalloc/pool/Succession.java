package io.prmalloc.pool;

import io.prmalloc.OutOfNativeMemoryException;
import io.prmalloc.kept.KeptPool;
import io.prmalloc.lifetime.LifetimePlan;
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
  private final PoolWatch watch;
  private final RetiredBins retired;
  private final Lock lifecycle;
  private final PoolPolicies policies;
  private final double maxOversize;

  Succession(
      TensorPoolAllocator pool,
      TensorPoolBuilder builder,
      Supplier<Takeover> takeovers,
      PoolWatch watch,
      RetiredBins retired,
      Lock lifecycle) {
    this.pool = pool;
    this.takeovers = takeovers;
    this.watch = watch;
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
   * Begins with a plan that was kept.
   *
   * @throws OutOfNativeMemoryException if there is no memory for it
   */
  void begin(KeptPool kept) {
    serve(kept, false);
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
      table.observe(watch.isObserved());
      if (before != null) {
        table.countOnFrom(before);
      }
      pool.publish(table);
      if (before != null) {
        retired.add(before);
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
