package io.prmalloc.internal.planner.index;

import io.prmalloc.plan.LowerBounds;
import io.prmalloc.plan.TensorUsageRecord;
import java.util.Arrays;
import java.util.List;

/**
 * Records in the order every strategy wants them: by first task, stably. A tensor's number here is
 * its place in that order; {@link #record} has its number in the caller's list.
 *
 * <p>Threading: immutable.
 */
public final class Lives {

  // Besides tasks there are ticks: the distinct first tasks, numbered from 0. A life in ticks is
  // that of its first task to the last tick not after its last task. Two lives share a task if and
  // only if they share a tick, for the later of their first tasks is a tick of both. Whatever is
  // alive in a task that is no tick is alive in the tick before as well, so a search for the most
  // crowded task need look at ticks only, of which there are never more than tensors.

  private final int[] records;
  private final long[] sizes;
  private final long[] firstTasks;
  private final long[] lastTasks;
  private final int[] firstTicks;
  private final int[] lastTicks;
  private final int tickCount;

  /**
   * Threading: any thread.
   *
   * @throws IllegalArgumentException if the sizes together pass 2^63 − 1
   */
  public Lives(List<TensorUsageRecord> list) {
    TensorUsageRecord[] given = list.toArray(new TensorUsageRecord[0]);
    int count = given.length;
    Sums.total("tensor", Arrays.stream(given).mapToLong(TensorUsageRecord::sizeBytes).toArray());
    records =
        IndexSort.ascending(Arrays.stream(given).mapToLong(TensorUsageRecord::firstTask).toArray());
    sizes = new long[count];
    firstTasks = new long[count];
    lastTasks = new long[count];
    for (int i = 0; i < count; i++) {
      TensorUsageRecord record = given[records[i]];
      sizes[i] = record.sizeBytes();
      firstTasks[i] = record.firstTask();
      lastTasks[i] = record.lastTask();
    }
    long[] ticks = distinct(firstTasks);
    tickCount = ticks.length;
    firstTicks = new int[count];
    lastTicks = new int[count];
    for (int i = 0; i < count; i++) {
      firstTicks[i] = Arrays.binarySearch(ticks, firstTasks[i]);
      int last = Arrays.binarySearch(ticks, lastTasks[i]);
      lastTicks[i] = last >= 0 ? last : -last - 2;
    }
  }

  private static long[] distinct(long[] ascending) {
    long[] distinct = new long[ascending.length];
    int found = 0;
    for (long value : ascending) {
      if (found == 0 || value != distinct[found - 1]) {
        distinct[found++] = value;
      }
    }
    return Arrays.copyOf(distinct, found);
  }

  /** How many tensors there are. */
  public int count() {
    return records.length;
  }

  /** The number of a tensor in the caller's list. */
  public int record(int tensor) {
    return records[tensor];
  }

  /** The size of a tensor in bytes. */
  public long size(int tensor) {
    return sizes[tensor];
  }

  public long firstTask(int tensor) {
    return firstTasks[tensor];
  }

  public long lastTask(int tensor) {
    return lastTasks[tensor];
  }

  public int firstTick(int tensor) {
    return firstTicks[tensor];
  }

  public int lastTick(int tensor) {
    return lastTicks[tensor];
  }

  /** How many ticks there are, at most {@link #count}. */
  public int tickCount() {
    return tickCount;
  }

  /** How many tensors are alive in a tick on average; 0 if there are none. */
  public double meanAlive() {
    double alive = 0;
    for (int tensor = 0; tensor < records.length; tensor++) {
      alive += lastTicks[tensor] - firstTicks[tensor] + 1;
    }
    return tickCount == 0 ? 0 : alive / tickCount;
  }

  /** Whether there is a task in which all tensors are alive; true if there are none. */
  public boolean areAllAliveAtOnce() {
    return Arrays.stream(lastTicks).allMatch(tick -> tick == tickCount - 1);
  }

  /** All tensors, the largest first, ties by number. A new array. */
  public int[] bySizeDescending() {
    return IndexSort.descending(sizes);
  }

  /** The most bytes alive in one task. */
  public long load() {
    return Arrays.stream(breadths()).max().orElse(0);
  }

  /** The bytes alive in every tick. */
  public long[] breadths() {
    long[] changes = new long[tickCount + 1];
    for (int i = 0; i < records.length; i++) {
      changes[firstTicks[i]] += sizes[i];
      changes[lastTicks[i] + 1] -= sizes[i];
    }
    Sums.accumulate(changes);
    return Arrays.copyOf(changes, tickCount);
  }

  /** Things of the caller's list in this order. */
  public <T> List<T> inOrder(List<T> list) {
    return Arrays.stream(records).mapToObj(list::get).toList();
  }

  /** Answers by the caller's numbers, from answers by this order. */
  public long[] toCaller(long[] answers) {
    long[] mapped = new long[answers.length];
    for (int i = 0; i < answers.length; i++) {
      mapped[records[i]] = answers[i];
    }
    return mapped;
  }

  /** Answers by the caller's numbers, from answers by this order. */
  public int[] toCaller(int[] answers) {
    int[] mapped = new int[answers.length];
    for (int i = 0; i < answers.length; i++) {
      mapped[records[i]] = answers[i];
    }
    return mapped;
  }

  /** {@link LowerBounds#positionalMaxima}. */
  public long[] positionalMaxima() {
    // Tensors come in by size, largest first. The moment k + 1 of them first share a task is the
    // moment the (k + 1)-th largest size of that task is known, and it is the largest such over
    // all tasks. One tensor raises the depth of a task by one, so no moment is missed.
    int[] bySize = bySizeDescending();
    DepthTree depth = new DepthTree(tickCount());
    long[] maxima = new long[bySize.length];
    int count = 0;
    for (int tensor : bySize) {
      depth.add(firstTick(tensor), lastTick(tensor));
      if (depth.max() > count) {
        maxima[count++] = size(tensor);
      }
    }
    return Arrays.copyOf(maxima, count);
  }
}
