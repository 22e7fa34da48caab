package io.prmalloc.plan.heuristic;

import io.prmalloc.internal.planner.index.LifeTree;
import io.prmalloc.internal.planner.index.Sums;
import io.prmalloc.plan.TensorUsageRecord;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CancellationException;

/**
 * Places tensors one after the other in a given order.
 *
 * <p>Threading: not safe.
 */
final class OrderPlacer {

  // The rule, as its authors have it. In every task of a tensor's life, the tensors placed there
  // leave gaps: below the first, between two, above the last, which has no end. Those that hold the
  // tensor are candidates. Of all candidates of all tasks, the smallest gap is tried first, of
  // equals the lowest, and the first start that is free in all tasks of the life wins.
  //
  // To walk over tasks times placed tensors, as the rule reads, is not needed:
  //
  // 1. Look at the placed tensors that are alive with the new one, by offset, all tasks thrown
  //    together. A start that is free in all tasks lies in a gap of this union that holds the
  //    tensor. It also is 0 or the end of some tensor there, so it can only be the gap's lower end.
  //    So at most one start per gap of the union is of interest, and those gaps come out of one
  //    walk over the placed tensors, which are kept sorted.
  // 2. How small is the smallest of the tasks' gaps that begin there? They are the tasks of those
  //    tensors that end there (at 0: all tasks), and the gap of a task ends where its next tensor
  //    begins. So the answer is the lowest tensor above that shares a task with one of them and
  //    with the new tensor; if there is none, the gap has no end. The search upwards stops where
  //    the gap would exceed the best so far.
  //
  // The tensors alive with the new one are found in one of two ways, with the same answer. Where
  // many are, all placed tensors are tested: n²/2 tests, in arrays of numbers and without a branch.
  // Where few of many are, a tree over the tensors by first task, which knows the latest last task
  // of the placed ones below each node, leads to them; they are then sorted by offset.
  //
  // An order that differs from the last one only from some position on is placed from there: what
  // lies before it lies as before. And a caller that only asks whether the total stays below a
  // limit learns that it does not at the first tensor above.
  //
  // Tasks are numbered anew, so that a number stands for a stretch of tasks without birth or death.
  //
  // Tensors without size lie at 0 and take no room.

  private static final long NO_END = Long.MAX_VALUE;

  /** How many tests for overlap take as long as finding one tensor in the tree and sorting it. */
  private static final int TESTS_PER_FOUND = 32;

  private static final int LEAST_WITH_TREE = 1000;

  private final int count;
  private final boolean seesGround;
  private final long[] sizes;
  private final int[] firsts;
  private final int[] lasts;

  private final long[] offsets;
  // The placed tensors by offset; no two lie at the same one and share a task.
  private final int[] placed;
  private int placedCount;
  // Instead of them, where few are alive at once; else null. What it finds is sorted by a key that
  // is an offset and a rank.
  private final LifeTree tree;
  private final long[] keys;
  private final int rankBits;
  private final int alignmentShift;
  // The order that was placed, and where each tensor stands in it.
  private final int[] order;
  private final int[] ranks;
  private int doneCount;

  // Of one placement: the placed tensors that are alive with the new one, and of those, the ones
  // that end where the gap in hand begins.
  private final int[] alive;
  private final int[] enders;
  private final int[] depthChanges;

  /**
   * @param seesGround whether the gap below the first tensor of a task is a candidate
   * @param alignment what sizes are rounded up to, a power of two
   * @throws IllegalArgumentException if the rounded sizes together pass 2^63 − 1
   */
  OrderPlacer(List<TensorUsageRecord> records, boolean seesGround, long alignment) {
    this(records, seesGround, alignment, LEAST_WITH_TREE);
  }

  /**
   * As {@link #OrderPlacer(List, boolean, long)}.
   *
   * @param leastWithTree how many tensors it takes to look for them in a tree where few are alive
   *     at once; 0 for any number, however many are alive
   */
  OrderPlacer(
      List<TensorUsageRecord> records, boolean seesGround, long alignment, int leastWithTree) {
    this.count = records.size();
    this.seesGround = seesGround;
    sizes = new long[count];
    firsts = new int[count];
    lasts = new int[count];
    long[] borders = new long[2 * count];
    long sum = 0;
    for (int i = 0; i < count; i++) {
      TensorUsageRecord record = records.get(i);
      sizes[i] = rounded(record.sizeBytes(), alignment);
      sum += sizes[i];
      if (sizes[i] < 0 || sum < 0) {
        throw new IllegalArgumentException(
            "the sizes together pass 2^63 - 1 at tensor " + i + " of " + record.sizeBytes());
      }
      borders[2 * i] = record.firstTask();
      borders[2 * i + 1] = record.lastTask() + 1;
    }
    Arrays.sort(borders);
    int distinct = 0;
    for (long border : borders) {
      if (distinct == 0 || borders[distinct - 1] != border) {
        borders[distinct++] = border;
      }
    }
    for (int i = 0; i < count; i++) {
      firsts[i] = Arrays.binarySearch(borders, 0, distinct, records.get(i).firstTask());
      lasts[i] = Arrays.binarySearch(borders, 0, distinct, records.get(i).lastTask() + 1) - 1;
    }
    offsets = new long[count];
    placed = new int[count];
    order = new int[count];
    ranks = new int[count];
    alive = new int[count];
    enders = new int[count];
    depthChanges = new int[distinct + 1];
    // The key of a tensor, which is an offset and a rank, must fit 63 bits.
    rankBits = Integer.SIZE - Integer.numberOfLeadingZeros(count);
    alignmentShift = Long.numberOfTrailingZeros(alignment);
    boolean suits =
        sum >> alignmentShift < 1L << (Long.SIZE - 1 - rankBits)
            && (leastWithTree == 0 || (count >= leastWithTree && areFewAlive()));
    tree = suits ? new LifeTree(firsts, lasts) : null;
    keys = new long[suits ? count : 0];
  }

  private boolean areFewAlive() {
    // By task: how many were born up to it, and how many died before it.
    int[] born = new int[depthChanges.length];
    int[] dead = new int[depthChanges.length];
    for (int i = 0; i < count; i++) {
      born[firsts[i]]++;
      dead[lasts[i] + 1]++;
    }
    Sums.accumulate(born);
    Sums.accumulate(dead);
    long found = 0;
    for (int i = 0; i < count; i++) {
      found += born[lasts[i]] - dead[firsts[i]];
    }
    return found * TESTS_PER_FOUND < (long) count * count;
  }

  /** A size rounded up; negative if that passes 2^63 − 1. */
  static long rounded(long bytes, long alignment) {
    return (bytes + alignment - 1) & -alignment;
  }

  /** How many tensors there are. */
  int count() {
    return count;
  }

  /** The most bytes alive in one task, sizes rounded up: no order needs less. */
  long loadBytes() {
    long[] changes = new long[depthChanges.length];
    for (int i = 0; i < count; i++) {
      changes[firsts[i]] += sizes[i];
      changes[lasts[i] + 1] -= sizes[i];
    }
    Sums.accumulate(changes);
    return Arrays.stream(changes).max().orElse(0);
  }

  /** Where each tensor lies; a new array. Of use after an order was placed to its end. */
  long[] offsets() {
    return offsets.clone();
  }

  /**
   * Places all tensors.
   *
   * @param newOrder each tensor once
   * @param limit of interest is only a total up to here
   * @return the largest end of a tensor, or some number above the limit
   * @throws CancellationException if the thread was interrupted
   */
  long place(int[] newOrder, long limit) {
    int same = 0;
    while (same < doneCount && order[same] == newOrder[same]) {
      same++;
    }
    keepFirst(same);
    long total = 0;
    for (int i = 0; i < same; i++) {
      total = Math.max(total, offsets[order[i]] + sizes[order[i]]);
    }
    for (int i = same; i < count && total <= limit; i++) {
      int tensor = newOrder[i];
      order[i] = tensor;
      ranks[tensor] = i;
      offsets[tensor] = sizes[tensor] == 0 ? 0 : find(tensor);
      if (sizes[tensor] > 0) {
        insert(tensor);
      }
      doneCount = i + 1;
      total = Math.max(total, offsets[tensor] + sizes[tensor]);
      if ((i & 63) == 0 && Thread.interrupted()) {
        throw new CancellationException("planning was interrupted");
      }
    }
    return total;
  }

  private void keepFirst(int same) {
    if (tree != null) {
      for (int i = same; i < doneCount; i++) {
        tree.remove(order[i]);
      }
      doneCount = same;
      return;
    }
    int kept = 0;
    for (int i = 0; i < placedCount; i++) {
      if (ranks[placed[i]] < same) {
        placed[kept++] = placed[i];
      }
    }
    placedCount = kept;
    doneCount = same;
  }

  private void insert(int tensor) {
    if (tree != null) {
      tree.add(tensor);
      return;
    }
    int from = 0;
    int to = placedCount;
    while (from < to) {
      int middle = (from + to) >>> 1;
      if (offsets[placed[middle]] <= offsets[tensor]) {
        from = middle + 1;
      } else {
        to = middle;
      }
    }
    System.arraycopy(placed, from, placed, from + 1, placedCount - from);
    placed[from] = tensor;
    placedCount++;
  }

  /** Those of the placed tensors that are alive with a tensor go to {@link #alive}, by offset. */
  private int collectAlive(int tensor) {
    if (tree != null) {
      return collectFromTree(tensor);
    }
    int last = lasts[tensor] + 1;
    int first = firsts[tensor] - 1;
    int found = 0;
    for (int i = 0; i < placedCount; i++) {
      int other = placed[i];
      alive[found] = other;
      // Both differences are negative if they share a task: a sign instead of a branch.
      found += ((firsts[other] - last) & (first - lasts[other])) >>> 31;
    }
    return found;
  }

  private int collectFromTree(int tensor) {
    int found = tree.collect(firsts[tensor], lasts[tensor], alive);
    for (int i = 0; i < found; i++) {
      keys[i] = offsets[alive[i]] >> alignmentShift << rankBits | ranks[alive[i]];
    }
    Arrays.sort(keys, 0, found);
    for (int i = 0; i < found; i++) {
      alive[i] = order[(int) keys[i] & ((1 << rankBits) - 1)];
    }
    return found;
  }

  private long find(int tensor) {
    long size = sizes[tensor];
    int found = collectAlive(tensor);
    long top = 0;
    int enderCount = 0;
    long best = -1;
    long bestGap = NO_END;
    long endless = -1;
    for (int i = 0; i < found && bestGap > size; i++) {
      int other = alive[i];
      long start = offsets[other];
      if (start - top >= size && start - top < bestGap && (i > 0 || seesGround)) {
        long end = i == 0 ? start : gapEnd(tensor, i, found, top, enderCount, bestGap);
        if (end == NO_END && endless < 0) {
          endless = top;
        }
        if (end != NO_END && end - top < bestGap) {
          bestGap = end - top;
          best = top;
        }
      }
      long end = start + sizes[other];
      if (end >= top) {
        enderCount = end > top ? 0 : enderCount;
        enders[enderCount++] = other;
        top = end;
      }
    }
    if (best >= 0) {
      return best;
    }
    // A tensor that does not see the ground below others sees it in a task that has no others.
    if (!seesGround && found > 0 && offsets[alive[0]] >= size && isSomeTaskEmpty(tensor, found)) {
      return 0;
    }
    return endless >= 0 ? endless : top;
  }

  /**
   * Where the smallest gap ends that begins at {@code top} in some task.
   *
   * @param from the first of the alive tensors above
   * @return {@link #NO_END} if it has none; some end that makes a gap no smaller than the best if
   *     that is sure
   */
  private long gapEnd(int tensor, int from, int found, long top, int enderCount, long bestGap) {
    for (int i = from; i < found; i++) {
      int above = alive[i];
      if (offsets[above] - top >= bestGap) {
        return offsets[above];
      }
      int first = Math.max(firsts[tensor], firsts[above]);
      int last = Math.min(lasts[tensor], lasts[above]);
      for (int k = 0; k < enderCount; k++) {
        if (Math.max(first, firsts[enders[k]]) <= Math.min(last, lasts[enders[k]])) {
          return offsets[above];
        }
      }
    }
    return NO_END;
  }

  private boolean isSomeTaskEmpty(int tensor, int found) {
    Arrays.fill(depthChanges, firsts[tensor], lasts[tensor] + 2, 0);
    for (int i = 0; i < found; i++) {
      depthChanges[Math.max(firsts[alive[i]], firsts[tensor])]++;
      depthChanges[Math.min(lasts[alive[i]], lasts[tensor]) + 1]--;
    }
    int depth = 0;
    for (int task = firsts[tensor]; task <= lasts[tensor]; task++) {
      depth += depthChanges[task];
      if (depth == 0) {
        return true;
      }
    }
    return false;
  }
}
