package io.prmalloc.internal.planner;

import io.prmalloc.internal.planner.index.IndexSort;
import java.util.Arrays;

/**
 * A growing list of open intervals.
 *
 * <p>Threading: not safe.
 */
public final class LongPairs {

  private static final int LAST = 4;

  private long[] starts = new long[16];
  private long[] ends = new long[16];
  private int count;

  /** Forgets all. */
  public void clear() {
    count = 0;
  }

  /** Adds an interval, unless it lies within one of those added last: many gaps are alike. */
  public void add(long start, long end) {
    for (int i = count - 1; i >= 0 && i >= count - LAST; i--) {
      if (starts[i] <= start && end <= ends[i]) {
        return;
      }
    }
    if (count == starts.length) {
      starts = Arrays.copyOf(starts, 2 * count);
      ends = Arrays.copyOf(ends, 2 * count);
    }
    starts[count] = start;
    ends[count++] = end;
  }

  public int count() {
    return count;
  }

  public long start(int index) {
    return starts[index];
  }

  public long end(int index) {
    return ends[index];
  }

  /**
   * Sorts them by start, and makes one of those that share a number. Of those that only meet, the
   * number between belongs to neither, and they stay two.
   */
  public void merge() {
    int[] order = IndexSort.ascending(Arrays.copyOf(starts, count));
    long[] sortedStarts = new long[Math.max(16, count)];
    long[] sortedEnds = new long[Math.max(16, count)];
    int kept = 0;
    for (int i : order) {
      if (kept > 0 && starts[i] < sortedEnds[kept - 1]) {
        sortedEnds[kept - 1] = Math.max(sortedEnds[kept - 1], ends[i]);
      } else {
        sortedStarts[kept] = starts[i];
        sortedEnds[kept++] = ends[i];
      }
    }
    starts = sortedStarts;
    ends = sortedEnds;
    count = kept;
  }
}
