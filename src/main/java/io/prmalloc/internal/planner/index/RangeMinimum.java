package io.prmalloc.internal.planner.index;

import java.util.Arrays;

/**
 * The smallest of a range of numbers that do not change. Built in O(n log n), asked in O(1).
 *
 * <p>Threading: immutable.
 */
public final class RangeMinimum {

  // minima[k][i] is the smallest of the 2^k numbers from i on. Two such runs, one from each end,
  // cover any range.

  private final int[][] minima;

  public RangeMinimum(int[] numbers) {
    int levels = Math.max(1, 32 - Integer.numberOfLeadingZeros(numbers.length));
    minima = new int[levels][];
    minima[0] = numbers.clone();
    for (int level = 1; level < levels; level++) {
      int[] below = minima[level - 1];
      int half = 1 << (level - 1);
      int[] here = Arrays.copyOf(below, Math.max(0, numbers.length - 2 * half + 1));
      for (int i = 0; i < here.length; i++) {
        here[i] = Math.min(below[i], below[i + half]);
      }
      minima[level] = here;
    }
  }

  /** The smallest from one index to another, both included. */
  public int minimum(int from, int to) {
    int level = 31 - Integer.numberOfLeadingZeros(to - from + 1);
    return Math.min(minima[level][from], minima[level][to - (1 << level) + 1]);
  }
}
