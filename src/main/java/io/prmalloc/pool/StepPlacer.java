package io.prmalloc.pool;

import io.prmalloc.plan.MemoryStrategy;
import io.prmalloc.plan.OffsetsAssignment;
import io.prmalloc.plan.TensorUsageRecord;
import java.time.Duration;
import java.util.List;

/**
 * Finds places for the requests of a step.
 *
 * <p>Threading: stateless.
 */
final class StepPlacer {

  private StepPlacer() {}

  /**
   * @param records the requests, in order
   * @param time how long to look for something better than the first plan
   */
  static OffsetsAssignment place(List<TensorUsageRecord> records, Duration time) {
    return MemoryStrategy.GREEDY_BY_SIZE.assignOffsets(records, StepPlan.ALIGNMENT);
  }
}
