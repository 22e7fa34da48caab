package io.prmalloc.plan.heuristic;

import io.prmalloc.plan.TensorUsageRecord;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * The placement rule implemented literally, task by task: what the fast implementation is compared
 * with.
 */
final class NaivePlacement {

  private record Placed(long start, long end, TensorUsageRecord record) {}

  private record Gap(long start, long length) {}

  private NaivePlacement() {}

  static long[] offsets(List<TensorUsageRecord> records, int[] order, boolean seesGround) {
    long[] offsets = new long[records.size()];
    List<Placed> placed = new ArrayList<>();
    for (int tensor : order) {
      TensorUsageRecord record = records.get(tensor);
      long size = (record.sizeBytes() + 63) / 64 * 64;
      if (size == 0) {
        continue;
      }
      offsets[tensor] = find(placed, record, size, seesGround);
      placed.add(new Placed(offsets[tensor], offsets[tensor] + size, record));
    }
    return offsets;
  }

  private static long find(
      List<Placed> placed, TensorUsageRecord record, long size, boolean seesGround) {
    List<Gap> candidates = new ArrayList<>();
    for (long task = record.firstTask(); task <= record.lastTask(); task++) {
      long at = task;
      List<Placed> there =
          placed.stream()
              .filter(p -> p.record.firstTask() <= at && at <= p.record.lastTask())
              .sorted(Comparator.comparingLong(Placed::start))
              .toList();
      long end = 0;
      for (int i = 0; i < there.size(); i++) {
        if (there.get(i).start - end >= size && (i > 0 || seesGround)) {
          candidates.add(new Gap(end, there.get(i).start - end));
        }
        end = there.get(i).end;
      }
      candidates.add(new Gap(end, Long.MAX_VALUE));
    }
    candidates.sort(Comparator.comparingLong(Gap::length).thenComparingLong(Gap::start));
    for (Gap gap : candidates) {
      if (placed.stream()
          .noneMatch(
              p -> p.record.overlaps(record) && p.start < gap.start + size && gap.start < p.end)) {
        return gap.start;
      }
    }
    throw new AssertionError("the end of the highest is always free");
  }
}
