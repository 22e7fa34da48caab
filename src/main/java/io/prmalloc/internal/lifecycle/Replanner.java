package io.prmalloc.internal.lifecycle;

import io.prmalloc.internal.arena.BinTable;
import io.prmalloc.internal.block.PoolCounts;
import io.prmalloc.internal.block.SafeLog;
import io.prmalloc.internal.observe.ObserverRegistry;
import io.prmalloc.lifetime.LifetimePlan;
import io.prmalloc.lifetime.MemoryPlanner;
import io.prmalloc.lifetime.MemoryPlannerFactory;
import io.prmalloc.lifetime.PlannerSettings;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.Lock;
import java.util.function.IntSupplier;

/**
 * Detects that the shared pool's plan no longer fits the traffic, and has another plan made while
 * the pool continues to serve.
 *
 * <p>Threading: any thread.
 */
public final class Replanner {

  // Requests that find no block are counted already; every window of them the pool looks how many
  // found one meanwhile, which costs a walk over the blocks. If so many windows in a row had a
  // miss rate over the threshold, the traffic has changed: several of them and not one, so that a
  // burst of a few hundred odd requests changes nothing. A step now and then that misses a little,
  // as with a new image size once in a while, stays under the threshold.
  //
  // A plan may also hold too much memory: OverProvisionMonitor detects that, and requests a smaller
  // plan.
  //
  // Then statistics are collected again, by a separate planner that is told of every request
  // through an observer: requests take the slow path for some steps, but are served from the old
  // plan where it fits. When the packing is stable the new plan takes over, and the old arena is
  // freed when its last block is free. If there is no memory for two arenas, or anything else goes
  // wrong, the old one stays.
  //
  // The next attempt waits twice as long, unless the new plan misses less than half as often as the
  // one before: where sizes vary freely it does not, and its pages would only be touched anew.

  /** The result of collecting anew. */
  public enum Outcome {
    /** Nothing was collected since this was asked last. */
    NONE,
    /** A plan took over that was made because requests missed, or on request. */
    GREW,
    /** A smaller plan took over. */
    SHRANK,
    /** The old plan stayed. */
    IN_VAIN
  }

  /** Puts a new plan in force. */
  public interface Successor {
    /**
     * Takes a new plan, unless there is no memory for it or it is not small enough.
     *
     * @param mostBytes more than the new arena may have
     * @return false if the old one stays; also whatever is thrown leaves that in force
     */
    boolean next(LifetimePlan plan, double mostBytes);
  }

  private static final Logger LOGGER = SafeLog.logger(Replanner.class);
  private static final int MAX_PATIENCE = 1 << 16;

  private final ObserverRegistry registry;
  private final PlannerSettings settings;
  private final ReplanSettings when;
  private final Executor executor;
  private final Lock lifecycle;
  private final IntSupplier headerBytes;
  private final Runnable changed;
  private final Successor planned;

  // Under the lock of this object, but for the first, which is a hint.
  private int unserved;
  private BinTable looked;
  private long hitsBefore;
  private double missRate;
  private int badWindows;
  private int patience;
  private boolean collecting;
  private Outcome outcome = Outcome.NONE;
  private int failures;
  private String lastFailure;

  /**
   * @param changed told when the traffic is found to be other than the plan is for
   * @param planned takes the new plan, on the executor; see {@link Successor#next}
   */
  public Replanner(
      ObserverRegistry registry,
      PlannerSettings settings,
      ReplanSettings when,
      Executor executor,
      Lock lifecycle,
      IntSupplier headerBytes,
      Runnable changed,
      Successor planned) {
    this.registry = registry;
    this.settings = settings.withStartStep(0);
    this.when = when;
    this.patience = when.windows();
    this.executor = executor;
    this.lifecycle = lifecycle;
    this.headerBytes = headerBytes;
    this.changed = changed;
    this.planned = planned;
  }

  /** A request found nothing in this table. */
  public void unserved(BinTable table) {
    unserved++;
    if (unserved >= when.window() && settings.enabled() && closeWindow(table)) {
      startLater();
    }
  }

  /** Not on the thread of a request, which would wait for whatever has the lifecycle's lock. */
  private void startLater() {
    try {
      executor.execute(() -> start(0));
    } catch (Throwable e) {
      failToStart(e, 0);
    }
  }

  private synchronized boolean closeWindow(BinTable table) {
    long counted = unserved;
    unserved = 0;
    PoolCounts counts = new PoolCounts();
    table.addTo(counts);
    // If the table is another one than the last time: since it began to serve.
    boolean isNew = table != looked;
    long hits = counts.uses - (isNew ? 0 : hitsBefore);
    double rate = (double) counted / (hits + counted);
    boolean bad = 100 * rate >= when.percent();
    boolean hasHelped = isNew && rate < missRate / 2;
    patience = bad && !hasHelped ? patience : when.windows();
    badWindows = bad && !isNew ? badWindows + 1 : 0;
    missRate = rate;
    looked = table;
    hitsBefore = counts.uses;
    if (badWindows < patience || collecting) {
      return false;
    }
    badWindows = 0;
    patience = Math.min(MAX_PATIENCE, 2 * patience);
    collecting = true;
    return true;
  }

  /**
   * Begins to collect statistics anew; false if that failed.
   *
   * @param shrinkFrom bytes that the new arena is to be smaller than; 0 for a plan of any size
   */
  private boolean start(long shrinkFrom) {
    try {
      observe(shrinkFrom);
      return true;
    } catch (Throwable e) {
      failToStart(e, shrinkFrom);
      return false;
    }
  }

  /** The request that noticed the change, or the caller that asked, must not fail for it. */
  private void failToStart(Throwable failure, long shrinkFrom) {
    String reason = "statistics cannot be collected anew";
    SafeLog.log(LOGGER, Level.WARNING, reason, failure);
    try {
      reason += ": " + failure;
    } catch (Throwable unsaid) {
      // It fails without saying more.
    }
    fail(reason, shrinkFrom > 0);
  }

  private void observe(long shrinkFrom) {
    MemoryPlanner planner = MemoryPlannerFactory.create(settings, executor);
    ReplanObserver observer = new ReplanObserver(planner, headerBytes);
    PlannerBinding.bind(
        planner,
        new PlanListener() {
          @Override
          public boolean onPlan(LifetimePlan plan) {
            finish(observer, plan, shrinkFrom);
            return true;
          }

          @Override
          public void onFailure(String reason) {
            registry.detach(observer);
            fail(reason, shrinkFrom > 0);
          }
        },
        null);
    lifecycle.lock();
    try {
      registry.attachIfOpen(observer);
    } finally {
      lifecycle.unlock();
    }
    if (shrinkFrom == 0) {
      changed.run();
    }
  }

  private void finish(ReplanObserver observer, LifetimePlan plan, long shrinkFrom) {
    registry.detach(observer);
    boolean shrinks = shrinkFrom > 0;
    double most = shrinks ? shrinkFrom / when.gain() : Double.POSITIVE_INFINITY;
    ended(planned.next(plan, most), shrinks);
  }

  private synchronized void fail(String reason, boolean shrinks) {
    failures++;
    lastFailure = reason;
    ended(false, shrinks);
  }

  private synchronized void ended(boolean serves, boolean shrinks) {
    collecting = false;
    outcome = !serves ? Outcome.IN_VAIN : shrinks ? Outcome.SHRANK : Outcome.GREW;
  }

  /** How often collecting anew failed: something was thrown, or there was no memory. */
  public synchronized int failures() {
    return failures;
  }

  /** Why the latest of {@link #failures} failed. */
  public synchronized Optional<String> lastFailure() {
    return Optional.ofNullable(lastFailure);
  }

  /** The result of collecting since this was called last. */
  public synchronized Outcome takeOutcome() {
    Outcome last = outcome;
    outcome = Outcome.NONE;
    return last;
  }

  /** Begins to collect anew on request; false if collection is under way already. */
  public boolean request() {
    return request(0);
  }

  /**
   * Begins to collect anew for a plan of fewer bytes, and keeps the old one if there is none; false
   * if something is being collected already.
   *
   * @param heldBytes what is held now for the traffic of the plan: its arena, and beside it
   */
  public boolean shrink(long heldBytes) {
    return request(heldBytes);
  }

  private boolean request(long shrinkFrom) {
    synchronized (this) {
      if (collecting || !settings.enabled()) {
        return false;
      }
      collecting = true;
    }
    return start(shrinkFrom);
  }

  /** Whether the plan may change by itself. */
  public boolean isEnabled() {
    return settings.enabled();
  }

  /** Whether statistics are being collected anew. */
  public synchronized boolean isCollecting() {
    return collecting;
  }
}
