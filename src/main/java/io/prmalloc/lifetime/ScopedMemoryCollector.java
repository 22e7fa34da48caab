package io.prmalloc.lifetime;

import java.util.concurrent.atomic.AtomicReference;

/**
 * One step of a server, from {@link MemoryPlanner#collect} to {@link #close}: for a
 * try-with-resources around an inference.
 *
 * <p>Closing it twice does nothing the second time. Tensors may outlive the step, and may be
 * released by other threads.
 *
 * <p>Modelled on DeepRec's {@code ScopedMemoryCollector}, with one difference: there any collector
 * that closes ends the step of everybody; here each is its own.
 *
 * <p>Threading: any thread may close it.
 */
public final class ScopedMemoryCollector implements AutoCloseable {

  /**
   * A step in which nothing is collected. One object for all, so that an unobserved step costs no
   * heap.
   */
  static final ScopedMemoryCollector IDLE = new ScopedMemoryCollector(null, null);

  private final LifetimeMemoryPlanner planner;
  private final LifetimeMemoryPlanner.Step step;
  private final AtomicReference<Runnable> whenClosed;

  ScopedMemoryCollector(LifetimeMemoryPlanner planner, LifetimeMemoryPlanner.Step step) {
    this(planner, step, null);
  }

  private ScopedMemoryCollector(
      LifetimeMemoryPlanner planner, LifetimeMemoryPlanner.Step step, Runnable whenClosed) {
    this.planner = planner;
    this.step = step;
    this.whenClosed = whenClosed == null ? null : new AtomicReference<>(whenClosed);
  }

  /**
   * This step for somebody who wants to know when it ends; to be used instead of this. For those
   * who write allocators.
   *
   * <p>Threading: any thread, before the step is given to anybody.
   *
   * @param told called once, when the step is closed for the first time, before it ends
   */
  public ScopedMemoryCollector whenClosed(Runnable told) {
    return new ScopedMemoryCollector(planner, step, told);
  }

  /** Ends the step. Threading: any thread. */
  @Override
  public void close() {
    if (whenClosed != null) {
      tell();
    }
    if (planner != null) {
      planner.closeStep(step);
    }
  }

  private void tell() {
    Runnable told = whenClosed.getAndSet(null);
    if (told != null) {
      told.run();
    }
  }
}
