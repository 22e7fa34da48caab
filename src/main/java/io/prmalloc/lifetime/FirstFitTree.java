package io.prmalloc.lifetime;

import java.util.Arrays;

/**
 * Finds the first of many blocks that may be free during a life, skipping whole ranges of blocks
 * that cannot be.
 *
 * <p>Threading: not safe.
 */
final class FirstFitTree {

  // First fit checks the blocks in order, and most do not fit: a step that holds a thousand tensors
  // of a class at once checks five hundred blocks per tensor on average. The tree answers for
  // ranges.
  //
  // A leaf is a block, known by its latest life [lastBegin, lastEnd]. A node keeps over its leaves
  // the largest lastBegin and the smallest lastEnd. For a life [begin, end]:
  //
  //     largest lastBegin <= end  and  smallest lastEnd >= begin   =>   every latest life below
  // meets [begin, end]
  //
  // so nothing below can take it and the range is skipped. That covers what packing does nearly
  // always: lives of one bin come in the order of their ends, so a block's latest life either ended
  // before (a fit) or ends inside the new one (skipped). A block whose latest life lies wholly
  // after the new one is a "may be", and the block itself is checked.
  //
  // An empty block (lastBegin = +inf) is never skipped; an unused leaf (lastBegin = -inf, lastEnd =
  // +inf) always is.
  //
  // Layout: heap order, node 1 the root, leaves from `leaves` on.

  private static final long NEVER = Long.MIN_VALUE;
  private static final long FOREVER = Long.MAX_VALUE;

  private int leaves;
  private long[] maxLastBegin;
  private long[] minLastEnd;

  FirstFitTree(int capacity) {
    allocate(Integer.highestOneBit(Math.max(1, 2 * capacity - 1)));
  }

  private void allocate(int leafCount) {
    leaves = leafCount;
    maxLastBegin = new long[2 * leafCount];
    minLastEnd = new long[2 * leafCount];
    Arrays.fill(maxLastBegin, NEVER);
    Arrays.fill(minLastEnd, FOREVER);
  }

  /**
   * Says what a leaf's latest life is; grows the tree if the leaf is new. O(log n), amortised where
   * it grows.
   */
  void update(int leaf, long lastBegin, long lastEnd) {
    if (leaf >= leaves) {
      grow(leaf);
    }
    int node = leaves + leaf;
    maxLastBegin[node] = lastBegin;
    minLastEnd[node] = lastEnd;
    for (node >>= 1; node >= 1; node >>= 1) {
      long begin = Math.max(maxLastBegin[2 * node], maxLastBegin[2 * node + 1]);
      long end = Math.min(minLastEnd[2 * node], minLastEnd[2 * node + 1]);
      if (maxLastBegin[node] == begin && minLastEnd[node] == end) {
        return;
      }
      maxLastBegin[node] = begin;
      minLastEnd[node] = end;
    }
  }

  private void grow(int leaf) {
    int oldLeaves = leaves;
    long[] oldBegin = maxLastBegin;
    long[] oldEnd = minLastEnd;
    allocate(2 * Integer.highestOneBit(leaf));
    System.arraycopy(oldBegin, oldLeaves, maxLastBegin, leaves, oldLeaves);
    System.arraycopy(oldEnd, oldLeaves, minLastEnd, leaves, oldLeaves);
    for (int node = leaves - 1; node >= 1; node--) {
      maxLastBegin[node] = Math.max(maxLastBegin[2 * node], maxLastBegin[2 * node + 1]);
      minLastEnd[node] = Math.min(minLastEnd[2 * node], minLastEnd[2 * node + 1]);
    }
  }

  /** The largest begin of a latest life over all leaves. */
  long maxLastBegin() {
    return maxLastBegin[1];
  }

  /** The smallest end of a latest life over all leaves. */
  long minLastEnd() {
    return minLastEnd[1];
  }

  /**
   * The first leaf at or after {@code from} that may be free during a life, or −1. O(log n).
   *
   * @param begin first tick of the life
   * @param end last tick of the life
   */
  int next(int from, long begin, long end) {
    if (from >= leaves) {
      return -1;
    }
    int node = leaves + from;
    // Climb until a subtree to the right of what is behind us may hold a fit, then go down to its
    // first.
    while (isBusy(node, begin, end)) {
      while ((node & 1) == 1) {
        node >>= 1;
      }
      if (node == 0) {
        return -1;
      }
      node++;
    }
    while (node < leaves) {
      node <<= 1;
      if (isBusy(node, begin, end)) {
        node++;
      }
    }
    return node - leaves;
  }

  private boolean isBusy(int node, long begin, long end) {
    return maxLastBegin[node] <= end && minLastEnd[node] >= begin;
  }
}
