package io.prmalloc.plan.heuristic;

import io.prmalloc.internal.block.Requests;
import io.prmalloc.internal.planner.ConstrainedPlacer;
import io.prmalloc.internal.planner.ConstrainedProblem;
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

  /** What sizes are rounded up to at least, in bytes. */
  public static final long LEAST_ALIGNMENT = 64;

  /** The most tensors that are placed: more would take too long. */
  public static final int MAX_TENSORS = 200_000;

  private HeuristicPlanner() {}

  /**
   * Places the tensors. Sizes count as rounded up to the alignment, in the total too; a tensor of
   * size 0 lies at 0. Where few of many are alive at once, n · a · log n for n tensors of which a
   * are alive with each; else n², with a small factor: 5,000 take some tens of milliseconds, 50,000
   * some seconds. An interrupt ends it with a {@link java.util.concurrent.CancellationException}.
   *
   * <p>Under constraints sizes count as they are, fixed tensors come first, and each of the others,
   * in the order, goes into the smallest gap of all its tasks together; hints are tried, and never
   * make the plan larger.
   *
   * <p>Threading: any thread.
   *
   * @param alignment what offsets are multiples of, a power of two from 1 to 2^30; less than {@link
   *     #LEAST_ALIGNMENT} counts as that
   * @throws IllegalArgumentException if the rounded sizes together pass 2^63 − 1, there are more
   *     than {@link #MAX_TENSORS} tensors, or the alignment is out of its bounds; under
   *     constraints, if sizes and alignments together pass 2^61, or fixed offsets cannot be kept
   */
  public static OffsetsAssignment assignOffsets(
      List<TensorUsageRecord> records, PlacementOrder order, long alignment) {
    long granularity = granularity(records, alignment);
    if (ConstrainedProblem.plainAlignment(records, granularity) == 0) {
      return ConstrainedPlacer.assign(
          new ConstrainedProblem(records, alignment), order.sort(records, 1));
    }
    granularity = ConstrainedProblem.plainAlignment(records, granularity);
    OrderPlacer placer = new OrderPlacer(records, order.seesGround(), granularity);
    long total = placer.place(order.sort(records, granularity), Long.MAX_VALUE);
    return OffsetsAssignment.of(records, placer.offsets(), granularity, total);
  }

  static long granularity(List<TensorUsageRecord> records, long alignment) {
    Requests.checkAlignment(alignment);
    if (records.size() > MAX_TENSORS) {
      throw new IllegalArgumentException(
          "heuristic takes up to " + MAX_TENSORS + " tensors, not " + records.size());
    }
    return Math.max(alignment, LEAST_ALIGNMENT);
  }
}
