package io.prmalloc.plan;

import io.prmalloc.Requests;
import java.util.Arrays;
import java.util.List;

/**
 * {@link MemoryStrategy#GREEDY_BY_SIZE} for offsets.
 *
 * <p>Threading: stateless.
 */
final class GreedyBySizeOffsets {

  // The rule: tensors by size, largest first; each walks the placed tensors that overlap it in time
  // by offset, with the highest aligned end so far in hand, and takes the smallest gap that holds
  // it, the lowest of equals, or the highest aligned end if there is none.
  //
  // Offsets are aligned ends, so they are aligned, and so are all gaps: a gap holds a size if and
  // only if it holds the size rounded up. So each tensor is taken to fill its rounded size, and the
  // rule is best fit into what is free during a life, which GapIndex answers without the walk.
  //
  // That leaves tensors of size 0, which come last, fill nothing, and may go into gaps of length 0,
  // of which GapIndex knows none: ZeroSizeOffsets has them.

  private GreedyBySizeOffsets() {}

  /** As {@link MemoryStrategy#assignOffsets}. */
  static OffsetsAssignment assign(List<TensorUsageRecord> records, long alignment) {
    return assign(records, alignment, GapIndex.AUTOMATIC);
  }

  /**
   * As {@link #assign(List, long)}, with another shape of index; the answer is the same.
   *
   * @param columnsPerLife see {@link GapIndex}
   */
  static OffsetsAssignment assign(
      List<TensorUsageRecord> records, long alignment, double columnsPerLife) {
    Requests.checkAlignment(alignment);
    Lives lives = new Lives(records);
    return assign(records, lives, lives.bySizeDescending(), alignment, columnsPerLife);
  }

  /**
   * As {@link #assign(List, long)}, in another order.
   *
   * @param order all tensors of {@code lives}, those of size 0 behind all others
   */
  static OffsetsAssignment assign(
      List<TensorUsageRecord> records,
      Lives lives,
      int[] order,
      long alignment,
      double columnsPerLife) {
    checkSum(lives, alignment);
    int sized = order.length;
    while (sized > 0 && lives.size(order[sized - 1]) == 0) {
      sized--;
    }
    long[] offsets = new long[order.length];
    if (sized > 0) {
      long least = Arrays.stream(order, 0, sized).mapToLong(lives::size).min().orElseThrow();
      GapIndex index = new GapIndex(lives, Sums.align(least, alignment), columnsPerLife);
      for (int i = 0; i < sized; i++) {
        Interrupts.check();
        int tensor = order[i];
        offsets[tensor] = index.place(tensor, Sums.align(lives.size(tensor), alignment));
      }
    }
    if (sized < order.length) {
      new ZeroSizeOffsets(lives, alignment).place(order, sized, offsets);
    }
    return OffsetsAssignment.of(records, lives.toCaller(offsets), alignment);
  }

  /** No offset can pass the sum of all rounded sizes. */
  private static void checkSum(Lives lives, long alignment) {
    long sum = 0;
    for (int tensor = 0; tensor < lives.count(); tensor++) {
      sum = Sums.add(sum, Sums.align(lives.size(tensor), alignment));
    }
  }
}
