package io.prmalloc.internal.planner.index;

import java.util.Arrays;

/**
 * A set of tensors that can be asked for those alive in a stretch of ticks.
 *
 * <p>Threading: not safe.
 */
public final class LifeTree {

  // The tensors stand by first tick in the leaves of a binary tree in heap order, the root at 1.
  // Every node knows the latest last tick of the tensors below it that are in the set. So a search
  // meets only nodes above tensors that it finds: O(k log n) for k of n tensors.

  private static final int ABSENT = -1;

  private final int[] byFirst;
  private final int[] places;
  private final int[] firstTicks;
  private final int[] lastTicks;
  private final int leaves;
  private final int[] latest;

  // Of one search.
  private int[] found = {};
  private int foundCount;

  /**
   * An empty set. The arrays must not change.
   *
   * @param firsts the first tick of each tensor
   * @param lasts its last tick, from 0; −1 if it is never alive
   */
  public LifeTree(int[] firsts, int[] lasts) {
    int count = firsts.length;
    long[] keys = new long[count];
    for (int tensor = 0; tensor < count; tensor++) {
      keys[tensor] = firsts[tensor];
    }
    byFirst = IndexSort.ascending(keys);
    places = new int[count];
    firstTicks = new int[count];
    for (int place = 0; place < count; place++) {
      places[byFirst[place]] = place;
      firstTicks[place] = firsts[byFirst[place]];
    }
    lastTicks = lasts;
    leaves = count < 2 ? 1 : Integer.highestOneBit(count - 1) << 1;
    latest = new int[2 * leaves];
    Arrays.fill(latest, ABSENT);
  }

  /** Adds a tensor. O(log n). */
  public void add(int tensor) {
    set(tensor, lastTicks[tensor]);
  }

  /** Removes a tensor. O(log n). */
  public void remove(int tensor) {
    set(tensor, ABSENT);
  }

  private void set(int tensor, int last) {
    int node = leaves + places[tensor];
    latest[node] = last;
    for (node >>= 1; node > 0; node >>= 1) {
      latest[node] = Math.max(latest[2 * node], latest[2 * node + 1]);
    }
  }

  /**
   * Finds the tensors of the set that are alive in one of some ticks.
   *
   * @param from the first of the ticks
   * @param to the last of them; none are found if it is before the first
   * @param into they are written here, by first tick; as long as there are tensors
   * @return how many they are
   */
  public int collect(int from, int to, int[] into) {
    found = into;
    foundCount = 0;
    if (from <= to) {
      collect(1, 0, leaves, bornUpTo(to), from);
    }
    return foundCount;
  }

  private void collect(int node, int start, int length, int end, int from) {
    if (start >= end || latest[node] < from) {
      return;
    }
    if (length == 1) {
      found[foundCount++] = byFirst[start];
      return;
    }
    int half = length / 2;
    collect(2 * node, start, half, end, from);
    collect(2 * node + 1, start + half, half, end, from);
  }

  private int bornUpTo(int tick) {
    int from = 0;
    int to = firstTicks.length;
    while (from < to) {
      int middle = (from + to) >>> 1;
      if (firstTicks[middle] <= tick) {
        from = middle + 1;
      } else {
        to = middle;
      }
    }
    return from;
  }
}
