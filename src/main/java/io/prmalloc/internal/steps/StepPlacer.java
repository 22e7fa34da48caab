package io.prmalloc.internal.steps;

import io.prmalloc.plan.MemoryStrategy;
import io.prmalloc.plan.OffsetsAssignment;
import io.prmalloc.plan.TensorUsageRecord;
import io.prmalloc.plan.exact.ExactPlanner;
import java.time.Duration;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * Finds places for the requests of a step.
 *
 * <p>Threading: stateless.
 */
public final class StepPlacer {

  private StepPlacer() {}

  /** A good plan, at once. */
  public static OffsetsAssignment place(List<TensorUsageRecord> records) {
    return MemoryStrategy.GREEDY_BY_SIZE.assignOffsets(records, StepPlan.ALIGNMENT);
  }

  /**
   * The best plan that can be found in a time.
   *
   * @param cancelled says when to stop looking
   */
  public static OffsetsAssignment improve(
      List<TensorUsageRecord> records, Duration time, BooleanSupplier cancelled) {
    return ExactPlanner.minimize(records, StepPlan.ALIGNMENT, time, cancelled).assignment();
  }
}
