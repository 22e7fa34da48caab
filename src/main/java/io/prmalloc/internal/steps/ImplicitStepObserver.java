package io.prmalloc.internal.steps;

import io.prmalloc.internal.block.PoolObserver;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Records requests of threads to the pool while they have a step open that is to be learnt.
 *
 * <p>Threading: any thread.
 */
final class ImplicitStepObserver implements PoolObserver {

  // A ticket is the number of the step and that of the request in it, so nothing is kept for a
  // request. A release after the end of its step finds no recorder.

  /** Bits of a request's number, which is one of at most a million. */
  private static final int REQUEST_BITS = 24;

  private static final long REQUEST_MASK = (1L << REQUEST_BITS) - 1;

  private final ImplicitSteps steps;
  private final ConcurrentHashMap<Long, StepRecorder> recorders = new ConcurrentHashMap<>();

  /** Requests of no recorded step since one opened or closed. Roughly: without a lock. */
  private int foreign;

  ImplicitStepObserver(ImplicitSteps steps) {
    this.steps = steps;
  }

  /** A step opens. */
  void begin(long number, StepRecorder recorder) {
    foreign = 0;
    recorders.put(number, recorder);
  }

  /** A step is closed. */
  void end(long number) {
    foreign = 0;
    recorders.remove(number);
  }

  @Override
  public boolean seesSteps() {
    return false;
  }

  @Override
  public long allocated(long bytes, long alignment) {
    if (bytes > 0 && !StepPlan.canPlan(bytes)) {
      return 0; // has a mapping of its own in every step
    }
    ImplicitSteps.Open step = steps.recordedStep();
    if (step != null && bytes > 0 && alignment <= StepPlan.ALIGNMENT) {
      int request = begin(step.recorder(), bytes);
      if (request >= 0) {
        return (step.number() << REQUEST_BITS) | request;
      }
    }
    steps.foreignRequests(++foreign);
    return 0;
  }

  private int begin(StepRecorder recorder, long bytes) {
    try {
      return recorder.begin(bytes);
    } catch (OutOfMemoryError noHeap) {
      // The request is still served, and the recording of the step is not used.
      foreign = ImplicitSteps.MAX_FOREIGN_REQUESTS;
      return -1;
    }
  }

  @Override
  public void released(long ticket) {
    StepRecorder recorder = ticket == 0 ? null : recorders.get(ticket >>> REQUEST_BITS);
    if (recorder != null) {
      recorder.ended((int) (ticket & REQUEST_MASK));
    }
  }
}
