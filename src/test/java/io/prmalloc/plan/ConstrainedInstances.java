package io.prmalloc.plan;

import io.prmalloc.plan.TensorConstraints.Gap;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * Small random instances of tensors with constraints, and the least total of each, found by trying
 * everything.
 */
public final class ConstrainedInstances {

  /** No plan of the instances here needs as much. */
  public static final int MAX_BYTES = 60;

  /** From 0, one task after the other. */
  public static final int TASKS = 7;

  private static final long[] ALIGNMENTS = {1, 1, 1, 2, 3, 4, 8};

  private ConstrainedInstances() {}

  /** Up to {@code most} tensors; fixed offsets may collide. */
  public static List<TensorUsageRecord> random(Random random, int most) {
    List<TensorUsageRecord> records = new ArrayList<>();
    for (int count = 1 + random.nextInt(most); count > 0; count--) {
      int first = random.nextInt(TASKS);
      int last = first + random.nextInt(TASKS - first);
      int size = random.nextInt(7);
      TensorConstraints constraints =
          TensorConstraints.NONE
              .withAlignment(ALIGNMENTS[random.nextInt(ALIGNMENTS.length)])
              .withGaps(gaps(random, first, last, size));
      if (random.nextInt(5) == 0) {
        constraints = constraints.withOffset(constraints.alignment() * random.nextInt(3));
      }
      if (random.nextInt(4) == 0) {
        constraints = constraints.withHint(random.nextInt(20));
      }
      records.add(new TensorUsageRecord(size, first, last, constraints));
    }
    return records;
  }

  private static List<Gap> gaps(Random random, int first, int last, int size) {
    List<Gap> gaps = new ArrayList<>();
    int from = first + random.nextInt(3);
    while (from <= last && random.nextInt(3) > 0) {
      int to = from + random.nextInt(last - from + 1);
      int begin = random.nextInt(size + 1);
      int end = random.nextBoolean() ? begin : begin + random.nextInt(size - begin + 1);
      gaps.add(new Gap(from, to, begin, end));
      from = to + 1 + random.nextInt(2);
    }
    return gaps;
  }

  /** Whether offsets of at most {@link #MAX_BYTES} keep everything, task by task, bit by bit. */
  public static boolean isValid(List<TensorUsageRecord> records, long[] offsets, long alignment) {
    for (int i = 0; i < offsets.length; i++) {
      TensorConstraints constraints = records.get(i).constraints();
      if (offsets[i] % constraints.alignment() != 0
          || offsets[i] % alignment != 0
          || constraints.offset().orElse(offsets[i]) != offsets[i]) {
        return false;
      }
    }
    for (int task = 0; task < TASKS; task++) {
      long taken = 0;
      for (int i = 0; i < offsets.length; i++) {
        long bits = bits(records.get(i), task) << offsets[i];
        if ((taken & bits) != 0) {
          return false;
        }
        taken |= bits;
      }
    }
    return true;
  }

  /** Which bytes of a tensor are in use in a task. */
  public static long bits(TensorUsageRecord record, int task) {
    if (task < record.firstTask() || task > record.lastTask()) {
      return 0;
    }
    for (Gap gap : record.constraints().gaps()) {
      if (gap.firstTask() <= task && task <= gap.lastTask()) {
        return (1L << gap.toByte()) - (1L << gap.fromByte());
      }
    }
    return (1L << record.sizeBytes()) - 1;
  }

  /** The least total there is, over all offsets; −1 if {@link #MAX_BYTES} are not enough. */
  public static long smallest(List<TensorUsageRecord> records, long alignment) {
    for (int capacity = 0; capacity <= MAX_BYTES; capacity++) {
      if (fits(records, alignment, capacity, 0, new long[TASKS])) {
        return capacity;
      }
    }
    return -1;
  }

  private static boolean fits(
      List<TensorUsageRecord> records, long alignment, long capacity, int tensor, long[] taken) {
    if (tensor == records.size()) {
      return true;
    }
    TensorUsageRecord record = records.get(tensor);
    for (long offset = 0; offset + record.sizeBytes() <= capacity; offset++) {
      if (offset % alignment != 0
          || offset % record.constraints().alignment() != 0
          || record.constraints().offset().orElse(offset) != offset) {
        continue;
      }
      boolean isFree = true;
      for (int task = 0; task < TASKS; task++) {
        isFree &= (taken[task] & bits(record, task) << offset) == 0;
      }
      if (!isFree) {
        continue;
      }
      long[] more = taken.clone();
      for (int task = 0; task < TASKS; task++) {
        more[task] |= bits(record, task) << offset;
      }
      if (fits(records, alignment, capacity, tensor + 1, more)) {
        return true;
      }
    }
    return false;
  }
}
