package io.prmalloc.internal.planner.index;

import java.util.Arrays;

/**
 * Numbers at places 0, 1, …, each of which may be set again, and the first that is below a bound.
 *
 * <p>Threading: not safe.
 */
public final class MinimumTree {

  // A binary tree over the places in heap order, the root at 1; every node has the minimum below
  // it.

  private final int leaves;
  private final long[] minima;

  /**
   * Every number is 2^63 − 1.
   *
   * @param count how many places there are, from 0
   */
  public MinimumTree(int count) {
    leaves = count < 2 ? 1 : Integer.highestOneBit(count - 1) << 1;
    minima = new long[2 * leaves];
    Arrays.fill(minima, Long.MAX_VALUE);
  }

  /** Sets the number at a place. O(log count). */
  public void set(int place, long number) {
    int node = leaves + place;
    minima[node] = number;
    for (node >>= 1; node > 0; node >>= 1) {
      minima[node] = Math.min(minima[2 * node], minima[2 * node + 1]);
    }
  }

  /** The least number at the places from {@code from} to the one before {@code to}. */
  public long minimum(int from, int to) {
    long least = Long.MAX_VALUE;
    int left = leaves + from;
    int right = leaves + to;
    while (left < right) {
      if ((left & 1) == 1) {
        least = Math.min(least, minima[left++]);
      }
      if ((right & 1) == 1) {
        least = Math.min(least, minima[--right]);
      }
      left >>= 1;
      right >>= 1;
    }
    return least;
  }

  /**
   * The first place, from {@code from} on, with a number below a bound; −1 if there is none. O(log
   * count).
   */
  public int firstBelow(int from, long bound) {
    if (from >= leaves) {
      return -1;
    }
    int node = leaves + from;
    while (minima[node] >= bound) {
      // On to the next node on the right that is no child of one on the way.
      while ((node & 1) == 1) {
        node >>= 1;
      }
      if (node == 0) {
        return -1;
      }
      node++;
    }
    while (node < leaves) {
      node = minima[2 * node] < bound ? 2 * node : 2 * node + 1;
    }
    return node - leaves;
  }
}
