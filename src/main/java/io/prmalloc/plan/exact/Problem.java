package io.prmalloc.plan.exact;

import io.prmalloc.internal.block.Requests;
import io.prmalloc.plan.OffsetsAssignment;
import io.prmalloc.plan.TensorUsageRecord;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The tensors that have a size, over sections of time, with sizes as they fill memory.
 *
 * <p>Threading: immutable.
 */
final class Problem {

  // A tick is a task in which a tensor begins. Of ticks that follow each other, those matter in
  // which a tensor ends: where none does, all that is alive is alive in the next tick as well, with
  // more beside it. The ticks that are left are the sections: what is alive in one is in no other
  // all at once. Two tensors share a task if and only if they share a section, for both are alive
  // in the tick in which the later one begins, and in all from there to the section where the first
  // of the two ends. There are half as many sections as ticks, or fewer.
  //
  // Every offset is to be a multiple of the alignment, so a tensor fills its size rounded up, but
  // for the topmost of a section: what ends a plan is its true size. That is why both are here.
  //
  // Tensors are numbered by first section, in it the longest first; those of size 0 are left out.

  private final List<TensorUsageRecord> records;
  private final long alignment;
  private final int[] recordOf;
  private final long[] trueSizes;
  private final long[] sizes;
  private final int[] first;
  private final int[] last;
  // By section, and one more behind the last: the first tensor that begins there or later.
  private final int[] bornFrom;
  private final int sectionCount;
  private final long lowerBound;
  private final long step;

  /**
   * Threading: any thread.
   *
   * @throws IllegalArgumentException if the alignment is out of its bounds, or the sizes, rounded
   *     up, together pass 2^63 − 1
   */
  Problem(List<TensorUsageRecord> records, long alignment) {
    Requests.checkAlignment(alignment);
    this.records = List.copyOf(records);
    this.alignment = alignment;
    checkSum();
    int[] sized =
        IntStream.range(0, records.size()).filter(i -> records.get(i).sizeBytes() > 0).toArray();
    long[] ticks =
        Arrays.stream(sized)
            .mapToLong(i -> records.get(i).firstTask())
            .sorted()
            .distinct()
            .toArray();
    int[] sectionOfTick = sections(sized, ticks);
    sectionCount = sized.length == 0 ? 0 : sectionOfTick[ticks.length - 1] + 1;
    int[] firstOf = new int[records.size()];
    int[] lastOf = new int[records.size()];
    for (int i : sized) {
      firstOf[i] = sectionOfTick[tickOf(ticks, records.get(i).firstTask())];
      lastOf[i] = sectionOfTick[tickOf(ticks, records.get(i).lastTask())];
    }
    recordOf =
        Arrays.stream(sized)
            .boxed()
            .sorted(
                Comparator.<Integer>comparingInt(i -> firstOf[i]).thenComparingInt(i -> -lastOf[i]))
            .mapToInt(Integer::intValue)
            .toArray();
    first = Arrays.stream(recordOf).map(i -> firstOf[i]).toArray();
    last = Arrays.stream(recordOf).map(i -> lastOf[i]).toArray();
    trueSizes = Arrays.stream(recordOf).mapToLong(i -> records.get(i).sizeBytes()).toArray();
    sizes = Arrays.stream(trueSizes).map(this::roundUp).toArray();
    bornFrom = new int[sectionCount + 1];
    for (int section = 0, tensor = 0; section <= sectionCount; section++) {
      while (tensor < first.length && first[tensor] < section) {
        tensor++;
      }
      bornFrom[section] = tensor;
    }
    lowerBound = findLowerBound();
    step = findStep();
  }

  private void checkSum() {
    long sum = 0;
    for (TensorUsageRecord record : records) {
      long size = record.sizeBytes();
      if (size > Long.MAX_VALUE - alignment || sum > Long.MAX_VALUE - roundUp(size)) {
        throw new IllegalArgumentException(
            "size " + size + " takes the sum of all sizes, aligned, over 2^63 - 1");
      }
      sum += roundUp(size);
    }
  }

  private static int tickOf(long[] ticks, long task) {
    int found = Arrays.binarySearch(ticks, task);
    return found >= 0 ? found : -found - 2;
  }

  private int[] sections(int[] sized, long[] ticks) {
    boolean[] somethingEnds = new boolean[ticks.length];
    for (int i : sized) {
      somethingEnds[tickOf(ticks, records.get(i).lastTask())] = true;
    }
    int[] sectionOfTick = new int[ticks.length];
    for (int tick = 0, section = 0; tick < ticks.length; tick++) {
      sectionOfTick[tick] = section;
      section += somethingEnds[tick] ? 1 : 0;
    }
    return sectionOfTick;
  }

  /** The sum of a section, less what its topmost tensor need not fill. */
  private long findLowerBound() {
    long[] change = new long[sectionCount + 1];
    long[] saving = new long[sectionCount];
    Integer[] bySaving = IntStream.range(0, count()).boxed().toArray(Integer[]::new);
    Arrays.sort(bySaving, Comparator.comparingLong(t -> trueSizes[t] - sizes[t]));
    // The next section from here on that no tensor with a larger saving has touched.
    int[] next = IntStream.rangeClosed(0, sectionCount).toArray();
    for (int tensor : bySaving) {
      change[first[tensor]] += sizes[tensor];
      change[last[tensor] + 1] -= sizes[tensor];
      int section = untouched(next, first[tensor]);
      while (section <= last[tensor]) {
        saving[section] = sizes[tensor] - trueSizes[tensor];
        next[section] = section + 1;
        section = untouched(next, section);
      }
    }
    long most = 0;
    long sum = 0;
    for (int section = 0; section < sectionCount; section++) {
      sum += change[section];
      most = Math.max(most, sum - saving[section]);
    }
    return most;
  }

  private static int untouched(int[] next, int section) {
    while (next[section] != section) {
      next[section] = next[next[section]];
      section = next[section];
    }
    return section;
  }

  /** Every total is a sum of sizes rounded up and one true size, so a multiple of this. */
  private long findStep() {
    long divisor = 0;
    for (int tensor = 0; tensor < count(); tensor++) {
      divisor = gcd(gcd(divisor, sizes[tensor]), trueSizes[tensor]);
    }
    return Math.max(1, divisor);
  }

  private static long gcd(long a, long b) {
    while (b != 0) {
      long rest = a % b;
      a = b;
      b = rest;
    }
    return a;
  }

  /** A multiple of the alignment. */
  long roundUp(long bytes) {
    return (bytes + alignment - 1) & -alignment;
  }

  /** All tensors, as the caller gave them. */
  List<TensorUsageRecord> records() {
    return records;
  }

  /** What every offset is a multiple of. */
  long alignment() {
    return alignment;
  }

  /** The place of a tensor in {@link #records}. */
  int record(int tensor) {
    return recordOf[tensor];
  }

  /** How many tensors have a size. */
  int count() {
    return recordOf.length;
  }

  int sectionCount() {
    return sectionCount;
  }

  /** What a tensor fills. */
  long size(int tensor) {
    return sizes[tensor];
  }

  /** What a tensor needs where nothing lies on it. */
  long trueSize(int tensor) {
    return trueSizes[tensor];
  }

  /** The section a tensor begins in. */
  int first(int tensor) {
    return first[tensor];
  }

  /** The section a tensor ends in, included. */
  int last(int tensor) {
    return last[tensor];
  }

  /**
   * The first tensor that begins in a section or later; for the section behind the last as well.
   */
  int bornFrom(int section) {
    return bornFrom[section];
  }

  boolean overlap(int one, int other) {
    return first[one] <= last[other] && first[other] <= last[one];
  }

  /** No plan is smaller. */
  long lowerBound() {
    return lowerBound;
  }

  /** The total of every plan that lies tight is a multiple of this, from 1. */
  long step() {
    return step;
  }

  /** The least total that is larger. */
  long nextTotal(long total) {
    return total - total % step + step;
  }

  /** Where the tensors lie in a plan. */
  long[] offsetsIn(OffsetsAssignment plan) {
    return Arrays.stream(recordOf).mapToLong(plan::offset).toArray();
  }

  /** Where the last of the tensors ends. */
  long total(long[] offsets) {
    long total = 0;
    for (int tensor = 0; tensor < offsets.length; tensor++) {
      total = Math.max(total, offsets[tensor] + trueSizes[tensor]);
    }
    return total;
  }

  /** A plan of all records; those without a size lie at 0. */
  OffsetsAssignment plan(long[] offsets) {
    long[] all = new long[records.size()];
    for (int tensor = 0; tensor < offsets.length; tensor++) {
      all[recordOf[tensor]] = offsets[tensor];
    }
    return OffsetsAssignment.of(records, all, alignment);
  }
}
