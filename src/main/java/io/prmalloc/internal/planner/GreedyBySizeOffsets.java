package io.prmalloc.internal.planner;

import io.prmalloc.internal.block.Requests;
import io.prmalloc.internal.planner.index.FreeRectangles;
import io.prmalloc.internal.planner.index.GapIndex;
import io.prmalloc.internal.planner.index.Lives;
import io.prmalloc.internal.planner.index.OffsetIndex;
import io.prmalloc.internal.planner.index.Sums;
import io.prmalloc.plan.MemoryStrategy;
import io.prmalloc.plan.OffsetsAssignment;
import io.prmalloc.plan.TensorUsageRecord;
import java.util.Arrays;
import java.util.List;

/**
 * {@link MemoryStrategy#GREEDY_BY_SIZE} for offsets.
 *
 * <p>Threading: stateless.
 */
public final class GreedyBySizeOffsets {

  // The rule: tensors by size, largest first; each walks the placed tensors that overlap it in time
  // by offset, with the highest aligned end so far in hand, and takes the smallest gap that holds
  // it, the lowest of equals, or the highest aligned end if there is none.
  //
  // Offsets are aligned ends, so they are aligned, and so are all gaps: a gap holds a size if and
  // only if it holds the size rounded up. So each tensor is taken to fill its rounded size, and the
  // rule is best fit into what is free during a life, which an OffsetIndex answers without the
  // walk.
  //
  // There are two. GapIndex keeps lists of gaps and looks at all that have room; that is quick as
  // long as not too many tensors are alive at once. FreeRectangles takes longer for each tensor,
  // but nearly as long however many are alive. Both give the same answers, and how many are alive
  // says which one to take. If FreeRectangles turns out to have an input that does not suit it,
  // GapIndex takes over where it stopped.
  //
  // That leaves tensors of size 0, which come last, fill nothing, and may go into gaps of length 0,
  // of which no index knows: ZeroSizeOffsets has them.

  private GreedyBySizeOffsets() {}

  // Among 100,000 random tensors GapIndex is faster by a third with 2,000 alive at once, and
  // FreeRectangles by a half with 5,000.
  private static final double MANY_ALIVE = 3_000;

  /** As {@link MemoryStrategy#assignOffsets}. */
  public static OffsetsAssignment assign(List<TensorUsageRecord> records, long alignment) {
    return assign(records, alignment, GreedyBySizeOffsets::suitableIndex);
  }

  /** As {@link #assign(List, long)}, with another index; the answer is the same. */
  public static OffsetsAssignment assign(
      List<TensorUsageRecord> records, long alignment, OffsetIndex.Factory indexes) {
    Requests.checkAlignment(alignment);
    Lives lives = new Lives(records);
    return assign(records, lives, lives.bySizeDescending(), alignment, indexes);
  }

  /** The index that is the quickest for an input. */
  public static OffsetIndex suitableIndex(Lives lives, long least) {
    return lives.meanAlive() >= MANY_ALIVE
        ? new FreeRectangles(lives, least)
        : new GapIndex(lives, least, GapIndex.AUTOMATIC);
  }

  /**
   * As {@link #assign(List, long)}, in another order.
   *
   * @param order all tensors of {@code lives}, those of size 0 behind all others
   */
  public static OffsetsAssignment assign(
      List<TensorUsageRecord> records,
      Lives lives,
      int[] order,
      long alignment,
      OffsetIndex.Factory indexes) {
    checkSum(lives, alignment);
    int sized = order.length;
    while (sized > 0 && lives.size(order[sized - 1]) == 0) {
      sized--;
    }
    long[] offsets = new long[order.length];
    if (sized > 0) {
      long least = Arrays.stream(order, 0, sized).mapToLong(lives::size).min().orElseThrow();
      long alignedLeast = Sums.align(least, alignment);
      OffsetIndex index = indexes.create(lives, alignedLeast);
      place(lives, order, 0, sized, alignment, index, alignedLeast, offsets, Interrupts::check);
    }
    if (sized < order.length) {
      new ZeroSizeOffsets(lives, alignment).place(order, sized, offsets);
    }
    return OffsetsAssignment.of(records, lives.toCaller(offsets), alignment);
  }

  /**
   * Places the tensors {@code order[placed…end − 1]}, none of size 0, beside those before them.
   *
   * @param index in which nothing is placed
   * @param least the smallest size, rounded up
   * @param offsets by tensor, known of those that are placed; written
   * @param beforeEach runs before each tensor
   */
  public static void place(
      Lives lives,
      int[] order,
      int placed,
      int end,
      long alignment,
      OffsetIndex index,
      long least,
      long[] offsets,
      Runnable beforeEach) {
    occupy(lives, order, placed, alignment, index, offsets, beforeEach);
    OffsetIndex used = index;
    for (int i = placed; i < end; i++) {
      beforeEach.run();
      if (used.isOverwhelmed()) {
        used = new GapIndex(lives, least, GapIndex.AUTOMATIC);
        occupy(lives, order, i, alignment, used, offsets, beforeEach);
      }
      int tensor = order[i];
      long size = Sums.align(lives.size(tensor), alignment);
      offsets[tensor] = used.find(tensor, size);
      used.occupy(tensor, offsets[tensor], size);
    }
  }

  private static void occupy(
      Lives lives,
      int[] order,
      int placed,
      long alignment,
      OffsetIndex index,
      long[] offsets,
      Runnable beforeEach) {
    for (int i = 0; i < placed; i++) {
      beforeEach.run();
      int tensor = order[i];
      index.occupy(tensor, offsets[tensor], Sums.align(lives.size(tensor), alignment));
    }
  }

  /** No offset can pass the sum of all rounded sizes. */
  private static void checkSum(Lives lives, long alignment) {
    long sum = 0;
    for (int tensor = 0; tensor < lives.count(); tensor++) {
      sum = Sums.add(sum, Sums.align(lives.size(tensor), alignment));
    }
  }
}
