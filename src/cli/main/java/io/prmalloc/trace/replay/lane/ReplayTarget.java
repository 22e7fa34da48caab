package io.prmalloc.trace.replay.lane;

import io.prmalloc.trace.replay.ReplayRun;
import java.util.Optional;

/**
 * The allocator under test, for one run.
 *
 * <p>Threading: any thread, unless said otherwise.
 */
public interface ReplayTarget extends AutoCloseable {

  /** A new lane for a thread. */
  Lane lane(int tensors);

  /** Whether it has learnt all it will learn; true at once for those that do not learn. */
  boolean isWarm();

  /** The measured steps begin now: no step is open. */
  void markStart();

  /**
   * The most bytes it has reserved so far. Allocators of other libraries cannot tell: for them it
   * is what the threads may have asked for at one time.
   */
  long peakReservedBytes();

  /** What only the pool can tell, since {@link #markStart}. */
  Optional<ReplayRun.PoolCounts> poolCounts();

  /** What only planned steps can tell, since {@link #markStart}. */
  default Optional<ReplayRun.StepCounts> stepCounts() {
    return Optional.empty();
  }

  /** Gives every byte back, also what a failed run left behind. */
  @Override
  void close();
}
