package io.prmalloc.plan.exact;

import io.prmalloc.plan.OffsetsAssignment;
import java.util.Objects;

/**
 * The best plan that was found, and a lower bound for better ones.
 *
 * <p>Threading: immutable.
 *
 * @param assignment the plan
 * @param lowerBoundBytes no plan is smaller than that; from 0 to the plan's total
 */
public record ExactPlan(OffsetsAssignment assignment, long lowerBoundBytes) {

  /**
   * Threading: any thread.
   *
   * @throws IllegalArgumentException if the bound is negative or above the plan's total
   */
  public ExactPlan {
    Objects.requireNonNull(assignment, "assignment");
    if (lowerBoundBytes < 0 || lowerBoundBytes > assignment.totalBytes()) {
      throw new IllegalArgumentException(
          "lower bound " + lowerBoundBytes + " is not from 0 to " + assignment.totalBytes());
    }
  }

  /** Bytes of the plan. Threading: any thread. */
  public long totalBytes() {
    return assignment.totalBytes();
  }

  /** Whether it is proven that no plan is smaller. Threading: any thread. */
  public boolean isOptimal() {
    return assignment.totalBytes() == lowerBoundBytes;
  }

  /**
   * How far the plan can be from the best there is, as a part of the bound: 0 if it is optimal.
   *
   * <p>Threading: any thread.
   */
  public double gap() {
    return isOptimal() ? 0 : (double) (totalBytes() - lowerBoundBytes) / lowerBoundBytes;
  }
}
