package io.prmalloc.lifetime;

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

  ScopedMemoryCollector(LifetimeMemoryPlanner planner, LifetimeMemoryPlanner.Step step) {
    this.planner = planner;
    this.step = step;
  }

  /** Ends the step. Threading: any thread. */
  @Override
  public void close() {
    if (planner != null) {
      planner.closeStep(step);
    }
  }
}
