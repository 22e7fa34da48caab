package io.prmalloc.plan.heuristic;

import io.prmalloc.internal.block.Requests;
import io.prmalloc.internal.planner.ConstrainedPlacer;
import io.prmalloc.internal.planner.ConstrainedProblem;
import io.prmalloc.internal.planner.Interrupts;
import io.prmalloc.internal.planner.index.FreeRectangles;
import io.prmalloc.internal.planner.index.Lives;
import io.prmalloc.plan.OffsetsAssignment;
import io.prmalloc.plan.TensorUsageRecord;
import java.util.List;
import java.util.Optional;

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

  // With 1,000 alive at once of 50,000 rectangles take half as long as the placer.
  private static final double MANY_ALIVE = 1_000;

  private HeuristicPlanner() {}

  /**
   * Places the tensors. Sizes count as rounded up to the alignment, in the total too; a tensor of
   * size 0 lies at 0. Close to n log² n where thousands are alive at once; else, where few of many
   * are alive at once, n · a · log n for n tensors of which a are alive with each; else n², with a
   * small factor: 5,000 take some tens of milliseconds. An interrupt ends it with a {@link
   * java.util.concurrent.CancellationException}.
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
    return assignOffsets(records, order, alignment, MANY_ALIVE);
  }

  /**
   * As {@link #assignOffsets(List, PlacementOrder, long)}.
   *
   * @param manyAlive how many tensors alive at once, on average, it takes to place them by free
   *     rectangles; the answer is the same
   */
  static OffsetsAssignment assignOffsets(
      List<TensorUsageRecord> records, PlacementOrder order, long alignment, double manyAlive) {
    long granularity = granularity(records, alignment);
    if (ConstrainedProblem.plainAlignment(records, granularity) == 0) {
      return ConstrainedPlacer.assign(
          new ConstrainedProblem(records, alignment), order.sort(records, 1));
    }
    granularity = ConstrainedProblem.plainAlignment(records, granularity);
    int[] sorted = order.sort(records, granularity);
    Optional<long[]> offsets =
        placeByRectangles(records, sorted, order.seesGround(), granularity, manyAlive);
    if (offsets.isPresent()) {
      return OffsetsAssignment.of(
          records, offsets.get(), granularity, total(records, offsets.get(), granularity));
    }
    OrderPlacer placer = new OrderPlacer(records, order.seesGround(), granularity);
    long total = placer.place(sorted, Long.MAX_VALUE);
    return OffsetsAssignment.of(records, placer.offsets(), granularity, total);
  }

  private static long total(List<TensorUsageRecord> records, long[] offsets, long granularity) {
    long total = 0;
    for (int i = 0; i < offsets.length; i++) {
      total =
          Math.max(
              total, offsets[i] + OrderPlacer.rounded(records.get(i).sizeBytes(), granularity));
    }
    return total;
  }

  /**
   * Places tensors by the rule of {@link OrderPlacer} without a walk over those that are alive with
   * each, so that the time hardly grows with how many these are.
   *
   * @return empty if too few are alive at once, if the rectangles turn out not to suit the input,
   *     or if sizes are larger than the placer takes
   */
  private static Optional<long[]> placeByRectangles(
      List<TensorUsageRecord> records,
      int[] order,
      boolean seesGround,
      long granularity,
      double manyAlive) {
    if (records.size() < manyAlive) {
      return Optional.empty();
    }
    long sum = 0;
    long least = Long.MAX_VALUE;
    for (TensorUsageRecord record : records) {
      long size = OrderPlacer.rounded(record.sizeBytes(), granularity);
      sum += size;
      if (size < 0 || sum < 0) {
        return Optional.empty();
      }
      least = size == 0 ? least : Math.min(least, size);
    }
    Lives lives = new Lives(records);
    if (sum == 0 || lives.meanAlive() < manyAlive) {
      return Optional.empty();
    }
    int[] tensorOf = new int[order.length];
    for (int tensor = 0; tensor < order.length; tensor++) {
      tensorOf[lives.record(tensor)] = tensor;
    }
    FreeRectangles index =
        new FreeRectangles(
            lives,
            least,
            seesGround ? FreeRectangles.Rule.TASK : FreeRectangles.Rule.TASK_ABOVE_GROUND);
    long[] offsets = new long[order.length];
    for (int record : order) {
      Interrupts.check();
      long size = OrderPlacer.rounded(records.get(record).sizeBytes(), granularity);
      if (size > 0) {
        offsets[record] = index.find(tensorOf[record], size);
        index.occupy(tensorOf[record], offsets[record], size);
      }
      if (index.isOverwhelmed()) {
        return Optional.empty();
      }
    }
    return Optional.of(offsets);
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
