package io.prmalloc.trace.replay;

/**
 * Runs the events of one step through a lane.
 *
 * <p>Threading: one thread at a time.
 */
interface StepLoop {

  /**
   * Lets the steps to come have sizes of their own: each of the trace's times a factor, and at
   * least 64 bytes. Without it they have the trace's.
   */
  void scale(double factor);

  /**
   * Runs one step from its first event to its last.
   *
   * @param stepSeed from which the patterns of the step's tensors are made
   * @throws ReplayFailure if the allocator did something wrong; names the tensor
   */
  void run(long stepSeed);
}
