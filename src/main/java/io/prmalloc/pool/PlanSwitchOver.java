package io.prmalloc.pool;

import io.prmalloc.OutOfNativeMemoryException;
import io.prmalloc.internal.arena.BinTable;
import io.prmalloc.internal.lifecycle.DrainingPlans;
import io.prmalloc.internal.lifecycle.SwitchOverMemory;
import io.prmalloc.internal.poolplan.PlanChoice;
import io.prmalloc.internal.steps.PlannedSteps;
import io.prmalloc.kept.KeptPlan;
import io.prmalloc.kept.KeptPool;
import io.prmalloc.lifetime.LifetimePlan;
import io.prmalloc.lifetime.MemoryPlanner;
import java.util.concurrent.locks.Lock;
import java.util.function.Supplier;

/**
 * Puts plans of the shared pool in force: the first one, or one that was kept, and those that take
 * the place of another.
 *
 * <p>Threading: any thread.
 */
final class PlanSwitchOver {

  /** {@link PlanChoice#best}, or what a test puts in its place. */
  interface Chooser {
    KeptPool best(LifetimePlan made, PoolPolicies policies, double maxOversize);
  }

  private final TensorPoolAllocator pool;
  private final Supplier<SwitchOverMemory> memories;
  private final DrainingPlans retired;
  private final Lock lifecycle;
  private final Chooser chooser;
  private final double maxOversize;

  /** The policies that compete. */
  private volatile PoolPolicies policies;

  PlanSwitchOver(
      TensorPoolAllocator pool,
      TensorPoolBuilder builder,
      Supplier<SwitchOverMemory> memories,
      DrainingPlans retired,
      Lock lifecycle) {
    this.pool = pool;
    this.memories = memories;
    this.retired = retired;
    this.lifecycle = lifecycle;
    this.chooser = builder.chooser();
    this.policies = builder.policies();
    this.maxOversize = builder.maxOversize();
  }

  /**
   * The planner has a plan. If this fails the pool continues as before, and the planner learns
   * anew.
   *
   * @return whether a plan serves now; true of a pool that is closed, which needs none
   */
  boolean first(LifetimePlan made) {
    return pool.isClosed() || serve(choose(made), false) || pool.isClosed();
  }

  private KeptPool choose(LifetimePlan made) {
    try {
      return chooser.best(made, policies, maxOversize);
    } catch (Throwable e) {
      // A failed plan may fail each time. The reference's plan takes no search.
      policies = PoolPolicies.REFERENCE;
      throw e;
    }
  }

  /**
   * There is a plan for other traffic.
   *
   * @param mostBytes if it needs more, the old one stays
   * @return false if the old one stays, for the new one needs more
   */
  boolean next(LifetimePlan made, double mostBytes) {
    KeptPool chosen = choose(made);
    return PlanChoice.bytes(chosen) <= mostBytes && serve(chosen, true);
  }

  /**
   * Begins with what another pool has learnt. If that fails, the pool is closed, unless it is to
   * start cold then.
   *
   * @param ifUsable whether to start cold, with a warning in the log
   * @throws OutOfNativeMemoryException if there is no memory for it
   */
  void adopt(KeptPlan kept, boolean ifUsable, MemoryPlanner planner, PlannedSteps steps) {
    try {
      take(kept, planner, steps);
    } catch (Throwable e) {
      if (ifUsable && (e instanceof RuntimeException || e instanceof OutOfMemoryError)) {
        TensorPoolBuilder.logCold(e);
        return;
      }
      pool.closeForcibly();
      throw e;
    }
  }

  /**
   * Serves from what another pool has learnt, as far as this one has no plan of its own. Steps
   * whose thread asks the pool have none while the pool learns only.
   *
   * @return whether anything of it serves
   * @throws OutOfNativeMemoryException if there is no memory for it
   * @throws IllegalStateException if there is not enough heap for its tables
   */
  boolean take(KeptPlan kept, MemoryPlanner planner, PlannedSteps steps) {
    boolean learns = pool.bins() == null;
    boolean taken = false;
    if (kept.pool().isPresent() && planner.phase() != MemoryPlanner.Phase.DISABLED) {
      taken = take(kept.pool().get());
      if (taken) {
        planner.skip();
      }
    }
    return steps.adopt(kept.steps().stream().filter(step -> learns || !step.isImplicit()).toList())
            > 0
        || taken;
  }

  private boolean take(KeptPool kept) {
    lifecycle.lock();
    try {
      if (pool.isClosed() || pool.bins() != null) {
        return false;
      }
      SwitchOverMemory memory = memories.get();
      BinTable table = memory.reserve(kept.plan(), PlanChoice.blocks(kept), maxOversize);
      table.noteLoad(kept.loadBytes());
      pool.publish(table);
      memory.drain(() -> populate(table));
      memory.finish(table.arenaBytes());
      return true;
    } finally {
      lifecycle.unlock();
    }
  }

  /** Whether a plan serves afterwards: this one, or one that was there before the first. */
  private boolean serve(KeptPool chosen, boolean replace) {
    lifecycle.lock();
    try {
      BinTable before = pool.bins();
      if (pool.isClosed() || (before != null) != replace) {
        return before != null;
      }
      SwitchOverMemory memory = memories.get();
      BinTable table = memory.prepare(chosen.plan(), PlanChoice.blocks(chosen), maxOversize);
      try {
        table.noteLoad(chosen.loadBytes());
        publish(table, before);
      } finally {
        // Whatever is thrown, there is one table that serves, and no other is lost.
        if (pool.bins() != table) {
          table.free();
        } else if (before != null) {
          retired.release(before);
        }
      }
      memory.drain(() -> populate(table));
      memory.fill(table);
      memory.finish(table.arenaBytes());
      return true;
    } finally {
      lifecycle.unlock();
    }
  }

  private void publish(BinTable table, BinTable before) {
    if (before != null) {
      table.countOnFrom(before);
      retired.add(before);
    }
    pool.publish(table);
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
