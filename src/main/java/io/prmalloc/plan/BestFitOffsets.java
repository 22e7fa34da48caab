package io.prmalloc.plan;

import io.prmalloc.Requests;
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
}
