package io.prmalloc.lifetime;

import io.prmalloc.internal.block.StepSource;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Observes allocations during warm-up steps and computes which blocks can hold them all.
 *
 * <p>A server wraps each step in {@code try (ScopedMemoryCollector step = planner.collect())}. The
 * allocator that the planner belongs to reports every planned allocation and release. When the plan
 * is ready, the allocator is told. An exception ends one attempt: the planner logs it, reports it
 * with {@link #failures} and {@link #lastFailure}, and learns anew, after a wait that is twice as
 * long each time.
 *
 * <p>Modelled on DeepRec's {@code MemoryPlannerBase}. Made by {@link MemoryPlannerFactory}.
 *
 * <p>Threading: every method may be called from any thread.
 */
public abstract sealed class MemoryPlanner permits LifetimeMemoryPlanner, NullableMemoryPlanner {

  /** Where a planner stands. */
  public enum Phase {
    /** Steps are counted, nothing is collected yet. */
    WAITING,
    /** Lives are collected and packed. */
    COLLECTING,
    /** A plan is made and is being put in force, or waits for an allocator. */
    CHOOSING,
    /** A plan serves; nothing more is collected. */
    DONE,
    /**
     * The last attempt failed, {@link #lastFailure} gives the reason; there will be another one.
     */
    GAVE_UP,
    /** There will never be a plan. */
    DISABLED
  }

  /** For the two of this package. */
  MemoryPlanner() {}

  /**
   * One planned allocation whose end is not known yet. Its holder hands it back with {@link
   * #trackFree}.
   */
  public abstract static class Tracked {
    Tracked() {}
  }

  private volatile StepSource source;

  /** Null if there is no listener for steps. */
  private volatile Supplier<Runnable> stepWatcher;

  /**
   * {@link #collect(Object)} without a key.
   *
   * <p>Threading: any thread.
   */
  public final ScopedMemoryCollector collect() {
    return collect(null);
  }

  /**
   * Opens a step. Steps may be open at the same time, on the same or on different threads; each is
   * its own step, to which belong the allocations of its thread while it is that thread's
   * innermost. Allocations of threads that have no step open belong to the step opened last, or, if
   * none is open, to the next one that closes.
   *
   * <p>Once the plan is made nothing is collected any more, and this costs three reads.
   *
   * <p>Threading: any thread; the step may be closed on another one.
   *
   * @param key tells apart the steps that ask for different sequences of memory, where the first
   *     request's size does not: a batch size, a model's name, a record of both. Null, strings and
   *     numbers can be kept in a file with the plan
   */
  public final ScopedMemoryCollector collect(Object key) {
    return new ScopedMemoryCollector(this, key);
  }

  /** The allocator that serves the steps, or null. */
  final StepSource source() {
    return source;
  }

  final void setSource(StepSource steps) {
    source = steps;
  }

  /**
   * Sets the listener that is told of every step, whether the step is collected or not. For authors
   * of allocators.
   *
   * <p>Threading: any thread.
   *
   * @param opened called by the thread that opens a step; what it returns is run once, when the
   *     step is closed. Null for none; it replaces the one before
   */
  public final void watchSteps(Supplier<Runnable> opened) {
    stepWatcher = opened;
  }

  /** {@link #openStep}, with a call of the listener. */
  final OpenStep openWatchedStep() {
    OpenStep step = openStep();
    Supplier<Runnable> watcher = stepWatcher;
    if (watcher == null) {
      return step;
    }
    try {
      Runnable closed = watcher.get();
      return () -> {
        try {
          closed.run();
        } finally {
          end(step);
        }
      };
    } catch (Throwable e) {
      end(step);
      throw e;
    }
  }

  private static void end(OpenStep step) {
    if (step != null) {
      step.end();
    }
  }

  /** The step as this planner sees it, or null if it does not look. */
  abstract OpenStep openStep();

  /**
   * Reports an allocation that is to be planned, one of more than {@link
   * LifetimePolicy#SMALL_BYTES}.
   *
   * <p>Threading: any thread.
   *
   * @param alignment what the address must be a multiple of
   * @param totalBytes its size, header included
   * @return what to hand to {@link #trackFree}, or null if nothing is collected now
   */
  public abstract Tracked trackAllocate(long alignment, long totalBytes);

  /**
   * Reports the release of an allocation.
   *
   * <p>Threading: any thread.
   *
   * @param tracked what {@link #trackAllocate} of this planner returned
   */
  public abstract void trackFree(Tracked tracked);

  /**
   * Withdraws a report: the allocation failed, and counts as never requested.
   *
   * <p>Threading: any thread.
   *
   * @param tracked what {@link #trackAllocate} of this planner returned, and {@link #trackFree} has
   *     not seen
   */
  public abstract void trackFailure(Tracked tracked);

  /**
   * Ends the collecting without a plan: the allocator has one already. Nothing is told to the
   * listener.
   *
   * <p>Threading: any thread; a plan that is just being told stands.
   */
  public abstract void skip();

  /** Where this planner stands. Threading: any thread; true of the moment of the call. */
  public abstract Phase phase();

  /**
   * Steps whose lives were packed so far. Threading: any thread; true of the moment of the call.
   */
  public abstract int packedSteps();

  /** How many attempts to learn failed. Threading: any thread; true of the moment of the call. */
  public abstract int failures();

  /**
   * Why the latest of the {@link #failures} failed; empty before the first. Threading: any thread.
   */
  public abstract Optional<String> lastFailure();
}
