package io.prmalloc.plan.exact;

import java.util.Objects;

/**
 * The answer to whether tensors fit a capacity.
 *
 * <p>Threading: immutable.
 *
 * @param outcome the answer
 * @param best the smallest plan that was found; it fits if and only if the outcome says so
 */
public record CapacityAnswer(Outcome outcome, ExactPlan best) {

  /**
   * An answer.
   *
   * <p>Threading: immutable.
   */
  public enum Outcome {
    /** There is a plan of at most this size. */
    FITS,
    /** There is none, proven. */
    DOES_NOT_FIT,
    /** The time was over, or somebody cancelled. */
    UNKNOWN
  }

  /** Threading: any thread. */
  public CapacityAnswer {
    Objects.requireNonNull(outcome, "outcome");
    Objects.requireNonNull(best, "best");
  }
}
