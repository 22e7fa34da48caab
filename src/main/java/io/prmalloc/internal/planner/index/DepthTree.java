package io.prmalloc.internal.planner.index;

/**
 * How many intervals cover each tick, and the most that cover one.
 *
 * <p>Threading: not safe.
 */
public final class DepthTree {

  // A segment tree over ticks in heap order. An interval is noted at the O(log n) nodes it covers
  // whole (`own`); `max` of a node is the deepest tick below it, its own intervals included.

  private final int leaves;
  private final int[] own;
  private final int[] max;

  public DepthTree(int ticks) {
    leaves = Math.max(1, Integer.highestOneBit(Math.max(1, ticks - 1)) << 1);
    own = new int[2 * leaves];
    max = new int[2 * leaves];
  }

  /** One more interval of ticks, both ends included. O(log n). */
  public void add(int first, int last) {
    add(1, 0, leaves - 1, first, last);
  }

  private void add(int node, int from, int to, int first, int last) {
    if (first <= from && to <= last) {
      own[node]++;
      max[node]++;
      return;
    }
    int middle = (from + to) >>> 1;
    if (first <= middle) {
      add(2 * node, from, middle, first, last);
    }
    if (last > middle) {
      add(2 * node + 1, middle + 1, to, first, last);
    }
    max[node] = own[node] + Math.max(max[2 * node], max[2 * node + 1]);
  }

  /** The most intervals that cover one tick. O(1). */
  public int max() {
    return max[1];
  }
}
