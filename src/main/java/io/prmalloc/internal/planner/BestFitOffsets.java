package io.prmalloc.internal.planner;

import io.prmalloc.internal.block.Requests;
import io.prmalloc.internal.planner.index.Lives;
import io.prmalloc.internal.planner.index.OffsetIndex;
import io.prmalloc.internal.planner.index.PaddedGapIndex;
import io.prmalloc.internal.planner.index.Sums;
import io.prmalloc.plan.MemoryStrategy;
import io.prmalloc.plan.OffsetsAssignment;
import io.prmalloc.plan.TensorUsageRecord;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Places tensors by offsets in an order of the caller's, each into the smallest gap between those
 * placed before that are alive with it; {@link MemoryStrategy#GREEDY_BY_SIZE} with another order.
 *
 * <p>Threading: any thread.
 */
public final class BestFitOffsets {

  private BestFitOffsets() {}

  /**
   * Places tensors. The cost is that of {@link MemoryStrategy#assignOffsets} by size.
   *
   * <p>Threading: any thread.
   *
   * @param records the tensors, in any order
   * @param order their places in that list, each once; those of size 0 come last whatever it says
   * @param alignment what every offset is to be a multiple of, a power of two from 1 to 2^30
   * @throws IllegalArgumentException if the alignment is out of its bounds; if {@code order} does
   *     not hold every tensor once; if the sizes, aligned, together pass 2^63 − 1
   * @throws java.util.concurrent.CancellationException if the thread is interrupted
   */
  public static OffsetsAssignment assign(
      List<TensorUsageRecord> records, int[] order, long alignment) {
    Requests.checkAlignment(alignment);
    Lives lives = new Lives(records);
    if (order.length != lives.count()) {
      throw new IllegalArgumentException(
          "the order has " + order.length + " tensors; there are " + lives.count());
    }
    int[] tensorOf = new int[order.length];
    for (int tensor = 0; tensor < order.length; tensor++) {
      tensorOf[lives.record(tensor)] = tensor;
    }
    boolean[] seen = new boolean[order.length];
    for (int record : order) {
      if (record < 0 || record >= order.length || seen[record]) {
        throw new IllegalArgumentException(
            "tensor "
                + record
                + " of the order is not from 0 to "
                + (order.length - 1)
                + ", or twice");
      }
      seen[record] = true;
    }
    int[] ordered =
        IntStream.concat(
                IntStream.of(order).filter(record -> records.get(record).sizeBytes() > 0),
                IntStream.of(order).filter(record -> records.get(record).sizeBytes() == 0))
            .map(record -> tensorOf[record])
            .toArray();
    return GreedyBySizeOffsets.assign(
        records, lives, ordered, alignment, GreedyBySizeOffsets::suitableIndex);
  }

  /**
   * Places tensors one by one beside others that have their offsets, as an arena of TensorFlow Lite
   * does: as {@link #assign}, but of equally small gaps it takes the first that begins right where
   * a tensor ends, and if all of them begin with padding, the last. The cost is that of {@link
   * MemoryStrategy#assignOffsets} by size, but with few tensors alive at once in mind where sizes
   * are not multiples of the alignment.
   *
   * <p>Threading: any thread.
   *
   * @param records the tensors that have offsets, then those to be placed, in the order of placing;
   *     no size is 0
   * @param placedOffsets the offsets of the first tensors, multiples of the alignment; two of them
   *     that are alive in the same task share no byte
   * @param alignment what every offset is to be a multiple of, a power of two from 1 to 2^30
   * @return the offsets of the tensors to be placed, in their order
   * @throws IllegalArgumentException if the alignment is out of its bounds; if there are more
   *     offsets than tensors; if an offset is negative or not aligned; if a size is 0; if the
   *     sizes, aligned, together pass 2^63 − 1
   */
  public static long[] extend(
      List<TensorUsageRecord> records, long[] placedOffsets, long alignment) {
    Requests.checkAlignment(alignment);
    checkPlaced(records, placedOffsets, alignment);
    if (records.size() == placedOffsets.length) {
      return new long[0];
    }
    Lives lives = new Lives(records);
    int count = records.size();
    int[] order = new int[count];
    long[] offsets = new long[count];
    long least = Long.MAX_VALUE;
    boolean isPadded = false;
    for (int tensor = 0; tensor < count; tensor++) {
      int record = lives.record(tensor);
      order[record] = tensor;
      offsets[tensor] = record < placedOffsets.length ? placedOffsets[record] : 0;
      least = Math.min(least, lives.size(tensor));
      isPadded |= (lives.size(tensor) & (alignment - 1)) != 0;
    }
    long alignedLeast = Sums.align(least, alignment);
    // Without padding the first of equally small gaps is taken, as in every other index.
    OffsetIndex index =
        isPadded
            ? new PaddedGapIndex(lives, alignedLeast)
            : GreedyBySizeOffsets.suitableIndex(lives, alignedLeast);
    GreedyBySizeOffsets.place(
        lives,
        order,
        placedOffsets.length,
        count,
        alignment,
        index,
        alignedLeast,
        offsets,
        () -> {});
    long[] found = new long[count - placedOffsets.length];
    for (int i = 0; i < found.length; i++) {
      found[i] = offsets[order[placedOffsets.length + i]];
    }
    return found;
  }

  private static void checkPlaced(
      List<TensorUsageRecord> records, long[] placedOffsets, long alignment) {
    if (placedOffsets.length > records.size()) {
      throw new IllegalArgumentException(
          "there are " + placedOffsets.length + " offsets for " + records.size() + " tensors");
    }
    long sum = 0;
    for (int i = 0; i < records.size(); i++) {
      if (records.get(i).sizeBytes() == 0) {
        throw new IllegalArgumentException("size 0 of tensor " + i + " is less than 1");
      }
      sum = Sums.add(sum, Sums.align(records.get(i).sizeBytes(), alignment));
    }
    for (int i = 0; i < placedOffsets.length; i++) {
      if (placedOffsets[i] < 0 || (placedOffsets[i] & (alignment - 1)) != 0) {
        throw new IllegalArgumentException(
            "offset "
                + placedOffsets[i]
                + " of tensor "
                + i
                + " is not a multiple of "
                + alignment
                + " from 0");
      }
    }
  }
}
