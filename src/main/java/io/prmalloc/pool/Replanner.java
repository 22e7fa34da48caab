package io.prmalloc.pool;

import io.prmalloc.lifetime.LifetimePlan;
import io.prmalloc.lifetime.MemoryPlanner;
import io.prmalloc.lifetime.MemoryPlannerFactory;
import io.prmalloc.lifetime.PlannerSettings;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.Lock;
import java.util.function.IntSupplier;
import java.util.function.Predicate;

/**
 * Sees that the shared pool's plan no longer is one for the traffic, and has another one made while
 * the pool goes on serving.
 *
 * <p>Threading: any thread.
 */
final class Replanner {

  // Requests that find no block are counted already; every WINDOW of them the pool looks how many
  // found one meanwhile, which costs a walk over the blocks. If so many windows in a row had a
  // miss rate over the threshold, the traffic has changed: WINDOWS of them and not one, so that a
  // burst of a few hundred odd requests changes nothing. A step now and then that misses a little,
  // as with a new image size once in a while, stays under the threshold.
  //
  // Then statistics are collected again, by a planner of its own that hears of every request
  // through an observer: they take the slow way for some steps, but are served from the old plan as
  // far as that goes. When the packing is stable the new plan takes over, and the old arena goes
  // when its last block is home. If there is no memory for two arenas, the old one stays, and the
  // next attempt waits twice as long.

  /** After so many requests that found nothing the rate is looked at. */
  static final int WINDOW = 256;

  /** So many windows in a row must have been bad. */
  static final int WINDOWS = 3;

  /** So many of 100 requests must have found nothing in each. */
  static final int PERCENT = 2;

  private static final int MAX_PATIENCE = 1 << 16;

  private final PoolWatch watch;
  private final PlannerSettings settings;
  private final Executor executor;
  private final Lock lifecycle;
  private final IntSupplier headerBytes;
  private final Predicate<LifetimePlan> planned;

  // Under the lock of this object, but for the first, which is a hint.
  private int unserved;
  private BinTable looked;
  private long hitsBefore;
  private int badWindows;
  private int patience = WINDOWS;
  private boolean collecting;

  /**
   * @param planned told of the new plan, on the executor; false if there is no memory for it
   */
  Replanner(
      PoolWatch watch,
      PlannerSettings settings,
      Executor executor,
      Lock lifecycle,
      IntSupplier headerBytes,
      Predicate<LifetimePlan> planned) {
    this.watch = watch;
    this.settings = settings.withStartStep(0);
    this.executor = executor;
    this.lifecycle = lifecycle;
    this.headerBytes = headerBytes;
    this.planned = planned;
  }

  /** A request found nothing in this table. */
  void unserved(BinTable table) {
    unserved++;
    if (unserved >= WINDOW && settings.enabled() && isTime(table)) {
      start();
    }
  }

  private synchronized boolean isTime(BinTable table) {
    long counted = unserved;
    unserved = 0;
    PoolCounts counts = new PoolCounts();
    table.addTo(counts);
    long hits = table == looked ? counts.uses - hitsBefore : 0;
    boolean bad = table == looked && 100 * counted >= PERCENT * (hits + counted);
    looked = table;
    hitsBefore = counts.uses;
    badWindows = bad ? badWindows + 1 : 0;
    if (badWindows < patience || collecting) {
      return false;
    }
    badWindows = 0;
    collecting = true;
    return true;
  }

  /** Begins to collect statistics anew, unless that is going on. */
  void start() {
    MemoryPlanner planner = MemoryPlannerFactory.create(settings, executor);
    ReplanObserver observer = new ReplanObserver(planner, headerBytes);
    planner.bind(plan -> finish(observer, plan));
    lifecycle.lock();
    try {
      watch.attachIfOpen(observer);
    } finally {
      lifecycle.unlock();
    }
  }

  private void finish(ReplanObserver observer, LifetimePlan plan) {
    watch.detach(observer);
    boolean serves = planned.test(plan);
    synchronized (this) {
      collecting = false;
      patience = serves ? WINDOWS : Math.min(MAX_PATIENCE, 2 * patience);
    }
  }

  /** Begins to collect anew because somebody asked for it; false if it is going on already. */
  boolean request() {
    synchronized (this) {
      if (collecting || !settings.enabled()) {
        return false;
      }
      collecting = true;
    }
    start();
    return true;
  }

  /** Whether statistics are being collected anew. */
  synchronized boolean isCollecting() {
    return collecting;
  }
}
