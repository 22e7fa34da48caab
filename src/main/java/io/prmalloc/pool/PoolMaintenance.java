package io.prmalloc.pool;

import io.prmalloc.internal.extent.LiveHeap;
import io.prmalloc.internal.lifecycle.IdleTrimmer;
import io.prmalloc.internal.lifecycle.Maintenance;
import io.prmalloc.internal.lifecycle.PlanSharing;
import io.prmalloc.internal.lifecycle.Replanner;
import io.prmalloc.internal.slab.SmallBlocks;
import io.prmalloc.internal.steps.PlannedSteps;
import io.prmalloc.internal.steps.StepSettings;
import io.prmalloc.kept.KeptPlan;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;

/**
 * The periodic and background work of a pool.
 *
 * <p>Threading: any thread; {@link #start} once.
 */
final class PoolMaintenance implements IdleTrimmer.Target {

  private final TensorPoolAllocator pool;
  private final PoolAccounting accounting;
  private final Maintenance.Target overProvision;
  private final Maintenance.Target stepArenas;
  private final Maintenance.Target decay;

  /** Between two looks: more often would keep a processor busy. */
  private static final Duration LEAST_PERIOD = Duration.ofMillis(1);

  private final Duration shrinkAfter;
  private final Duration stepArenaIdle;
  private final Duration purgeAfter;
  private final Duration trimAfterIdle;
  private final String beanName;

  /** The pool's side of the plan store, and the thread that reads the store; null without one. */
  private final PlanSharing sharing;

  private IdleTrimmer trimmer;
  private PoolBean bean;
  private final Maintenance.Starter starter;
  private final List<Runnable> stops = new ArrayList<>();

  PoolMaintenance(
      TensorPoolAllocator pool,
      PoolAccounting accounting,
      PlannedSteps steps,
      SmallBlocks small,
      LiveHeap outside,
      Replanner replanner,
      TensorPoolBuilder builder) {
    this.pool = pool;
    this.accounting = accounting;
    this.starter = builder.maintenance();
    OverProvisionMonitor monitor =
        new OverProvisionMonitor(builder.replanWhen(), pool, outside, replanner);
    this.overProvision =
        () -> {
          small.releaseIdle(OverProvisionMonitor.LOOKS);
          monitor.look();
        };
    this.shrinkAfter = builder.replanWhen().idle();
    StepSettings stepSettings = builder.stepSettings();
    this.stepArenas = () -> steps.trim(stepSettings.idle().toNanos());
    this.stepArenaIdle = stepSettings.enabled() ? stepSettings.idle() : Duration.ZERO;
    this.decay = () -> outside.purge(OverProvisionMonitor.LOOKS);
    this.purgeAfter = builder.purgeAfter();
    this.trimAfterIdle = builder.trimAfterIdle();
    this.beanName = builder.beanName();
    this.sharing =
        builder.planStore() == null
            ? null
            : new PlanSharing(
                builder.planStore(), builder.planKey(), new SharedPool(), builder.sharingPace());
  }

  private final class SharedPool implements PlanSharing.Pool {
    @Override
    public KeptPlan plan() {
      return pool.plan();
    }

    @Override
    public boolean take(KeptPlan kept) {
      return pool.take(kept);
    }

    @Override
    public long plansServed() {
      return pool.plansServed();
    }
  }

  /** {@link PoolSnapshot#planStore}. */
  SortedMap<String, Long> planStoreCounts() {
    return PlanSharing.counts(sharing);
  }

  /** Returns when the plan store was looked at, or when that takes too long. */
  void awaitPlanStore() {
    if (sharing != null) {
      sharing.awaitFirstLook();
    }
  }

  /** Begins, when the pool is ready to be used. */
  synchronized void start() {
    if (trimAfterIdle != null) {
      trimmer = IdleTrimmer.start(this, trimAfterIdle);
    }
    if (beanName != null) {
      bean = PoolBean.register(pool, beanName);
    }
    lookAfter(overProvision, shrinkAfter);
    lookAfter(stepArenas, stepArenaIdle);
    lookAfter(decay, purgeAfter);
    if (sharing != null) {
      stops.add(sharing::stop);
      sharing.start();
    }
  }

  private void lookAfter(Maintenance.Target target, Duration idle) {
    if (!idle.isZero()) {
      Duration looks = idle.dividedBy(OverProvisionMonitor.LOOKS);
      Duration period = looks.compareTo(LEAST_PERIOD) < 0 ? LEAST_PERIOD : looks;
      Runnable stop = starter.start(target, period);
      try {
        stops.add(stop);
      } catch (Throwable e) {
        stop.run();
        throw e;
      }
    }
  }

  /**
   * Returns when the threads have ended that had only this pool to look after. After {@link #stop},
   * without a lock of the pool.
   */
  void join() {
    IdleTrimmer idle;
    synchronized (this) {
      idle = trimmer;
    }
    if (idle != null) {
      idle.join();
    }
    if (sharing != null) {
      sharing.join();
    }
    Maintenance.join();
  }

  /** Ends, when the pool is closed. */
  synchronized void stop() {
    stop(0);
  }

  /** Ends this one and those after it, even if one throws. Takes no heap. */
  private void stop(int first) {
    try {
      if (first < stops.size()) {
        stops.get(first).run();
      } else if (first == stops.size() && trimmer != null) {
        trimmer.stop();
      } else if (first > stops.size() && bean != null) {
        bean.unregister();
      }
    } finally {
      if (first <= stops.size()) {
        stop(first + 1);
      }
    }
  }

  @Override
  public long changes() {
    return accounting.changes();
  }

  @Override
  public long trim() {
    return pool.trim();
  }
}
