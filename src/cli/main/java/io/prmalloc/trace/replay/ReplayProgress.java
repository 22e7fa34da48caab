package io.prmalloc.trace.replay;

/**
 * Told now and then how far a run is; may end it.
 *
 * <p>Threading: called by the thread that called the replayer.
 */
public interface ReplayProgress extends AutoCloseable {

  /**
   * Threading: the replayer's caller.
   *
   * @param allocator which run
   * @param steps measured steps that all threads have done so far; 0 while warming up
   * @param totalSteps measured steps that all threads have to do
   */
  void update(ReplayAllocator allocator, long steps, long totalSteps);

  /**
   * Steps before any is measured, in which the allocator learns and the JIT compiles.
   *
   * <p>Threading: the replayer's caller.
   *
   * @param allocator which run
   * @param steps that all threads have done so far; how many there will be is unknown
   */
  default void warmUp(ReplayAllocator allocator, long steps) {}

  /**
   * Whether the run is to end before its time. Looked at several times a second.
   *
   * <p>Threading: the replayer's caller.
   */
  default boolean isCancelled() {
    return false;
  }

  /** There is nothing more to come. Threading: any thread. */
  @Override
  void close();
}
