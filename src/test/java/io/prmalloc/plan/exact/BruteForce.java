package io.prmalloc.plan.exact;

import io.prmalloc.plan.TensorUsageRecord;
import java.util.List;

/** The smallest total of a few tensors, found by trying every order. */
final class BruteForce {

  private final List<TensorUsageRecord> records;
  private final long alignment;
  private final long[] offsets;
  private final boolean[] placed;

  private BruteForce(List<TensorUsageRecord> records, long alignment) {
    this.records = records;
    this.alignment = alignment;
    offsets = new long[records.size()];
    placed = new boolean[records.size()];
  }

  /**
   * Over all orders, each tensor on top of those before it: one of them has the tensors by offset.
   */
  static long smallestByOrders(List<TensorUsageRecord> records, long alignment) {
    return new BruteForce(records, alignment).smallest(0, 0);
  }

  private long smallest(int count, long total) {
    if (count == records.size()) {
      return total;
    }
    long least = Long.MAX_VALUE;
    for (int tensor = 0; tensor < placed.length; tensor++) {
      if (!placed[tensor]) {
        long offset = 0;
        for (int other = 0; other < placed.length; other++) {
          if (placed[other] && records.get(other).overlaps(records.get(tensor))) {
            long end = offsets[other] + records.get(other).sizeBytes();
            offset = Math.max(offset, (end + alignment - 1) / alignment * alignment);
          }
        }
        offsets[tensor] = offset;
        placed[tensor] = true;
        long end =
            records.get(tensor).sizeBytes() == 0 ? 0 : offset + records.get(tensor).sizeBytes();
        least = Math.min(least, smallest(count + 1, Math.max(total, end)));
        placed[tensor] = false;
      }
    }
    return least;
  }

  /** Whether there is a plan, over all offsets of a grid. */
  static boolean fitsOnGrid(List<TensorUsageRecord> records, long alignment, long capacity) {
    return new BruteForce(records, alignment).fits(0, capacity);
  }

  private boolean fits(int tensor, long capacity) {
    if (tensor == records.size()) {
      return true;
    }
    TensorUsageRecord record = records.get(tensor);
    for (long offset = 0; offset + record.sizeBytes() <= capacity; offset += alignment) {
      offsets[tensor] = offset;
      boolean isFree = true;
      for (int other = 0; other < tensor && isFree; other++) {
        isFree =
            !records.get(other).overlaps(record)
                || offsets[other] + records.get(other).sizeBytes() <= offset
                || offset + record.sizeBytes() <= offsets[other];
      }
      if (isFree && fits(tensor + 1, capacity)) {
        return true;
      }
    }
    return false;
  }
}
