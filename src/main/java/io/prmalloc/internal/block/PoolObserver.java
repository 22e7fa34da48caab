package io.prmalloc.internal.block;

/**
 * Is called for every allocation and release of a pool. It must not throw, and must be quick,
 * because it runs within every request.
 *
 * <p>Threading: any thread, several at a time.
 */
public interface PoolObserver {

  /**
   * Memory is about to be allocated: no user has it yet.
   *
   * @param bytes how much was asked for
   * @param alignment what was asked for, a power of two
   * @return what {@link #released} is to be told of this allocation
   */
  long allocated(long bytes, long alignment);

  /**
   * Memory is freed: no other user has it yet. Called once for each allocation that this observer
   * was told of, unless the pool is closed by force.
   *
   * @param ticket what {@link #allocated} returned
   */
  void released(long ticket);

  /** Whether this is told of requests to steps; steps get shared memory then and no arena. */
  default boolean seesSteps() {
    return true;
  }

  /**
   * The calling thread opens a step.
   *
   * @return what {@link #stepClosed} is to be told of this step
   */
  default long stepOpened() {
    return 0;
  }

  /** A step ends that this observer was told of. */
  default void stepClosed(long ticket) {}

  /** The pool is to be closed, and this much is still allocated. No memory is taken away yet. */
  default void stillInUse() {}

  /** The pool is closed: no further calls follow. */
  default void poolClosed() {}
}
