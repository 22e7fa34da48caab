package io.prmalloc.plan.heuristic;

import io.prmalloc.plan.OffsetsAssignment;
import io.prmalloc.plan.TensorUsageRecord;
import java.util.List;

/**
 * The placement of the HeuristicAllocator project: tensors in a fixed order, each into the tightest
 * gap of a task that is free for its whole life.
 *
 * <p>Threading: any thread.
 */
public final class HeuristicPlanner {

  private HeuristicPlanner() {}

  /**
   * Places the tensors. Sizes count as rounded up to 64 bytes, in the total too; a tensor of size 0
   * lies at 0. n² for n tensors, with a small factor: 5,000 take some tens of milliseconds. An
   * interrupt ends it with a {@link java.util.concurrent.CancellationException}.
   *
   * <p>Threading: any thread.
   *
   * @return a plan whose offsets are multiples of 64
   * @throws IllegalArgumentException if the rounded sizes together pass 2^63 − 1
   */
  public static OffsetsAssignment assignOffsets(
      List<TensorUsageRecord> records, PlacementOrder order) {
    OrderPlacer placer = new OrderPlacer(records, order.seesGround());
    long total = placer.place(order.sort(records), Long.MAX_VALUE);
    return plan(records, placer.offsets(), total);
  }

  static OffsetsAssignment plan(List<TensorUsageRecord> records, long[] offsets, long total) {
    return OffsetsAssignment.of(records, offsets, OrderPlacer.ALIGNMENT, total);
  }
}
