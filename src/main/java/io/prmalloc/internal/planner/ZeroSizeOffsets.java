package io.prmalloc.internal.planner;

import io.prmalloc.internal.planner.index.IndexSort;
import io.prmalloc.internal.planner.index.Lives;
import io.prmalloc.internal.planner.index.Sums;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;

/**
 * Places tensors of size 0 after all others, by the rule of {@link GreedyBySizeOffsets}.
 *
 * <p>Threading: not safe.
 */
final class ZeroSizeOffsets {

  // For a tensor of size 0 a gap of length 0 will do, and none is smaller, so the first such gap is
  // the answer. If a tensor that overlaps in time lies at offset 0, that is the gap in front of it.
  // Where anything is alive something nearly always lies at 0, so the spans of time in which
  // something does are kept in a map, and only a tensor outside all of them walks over the placed
  // tensors, O(n).

  private final Lives lives;
  private final long alignment;
  // Disjoint spans of ticks in which something lies at offset 0: last by first.
  private final TreeMap<Integer, Integer> grounded = new TreeMap<>();
  // The placed tensors by offset, among equals by the order of placing; made for the first walk.
  private int[] byOffset;
  private int placed;

  ZeroSizeOffsets(Lives lives, long alignment) {
    this.lives = lives;
    this.alignment = alignment;
  }

  /**
   * Places the tensors {@code order[sized…]}.
   *
   * @param order all tensors in the order of placing
   * @param sized how many of them are placed, all those that have a size
   * @param offsets by tensor; written
   */
  void place(int[] order, int sized, long[] offsets) {
    for (int i = 0; i < sized; i++) {
      if (offsets[order[i]] == 0) {
        ground(order[i]);
      }
    }
    for (int i = sized; i < order.length; i++) {
      Interrupts.check();
      int tensor = order[i];
      offsets[tensor] = isGrounded(tensor) ? 0 : walk(tensor, order, i, offsets);
      if (offsets[tensor] == 0) {
        ground(tensor);
      }
      if (byOffset != null) {
        insert(tensor, offsets);
      }
    }
  }

  private boolean isGrounded(int tensor) {
    Map.Entry<Integer, Integer> before = grounded.floorEntry(lives.lastTick(tensor));
    return before != null && before.getValue() >= lives.firstTick(tensor);
  }

  private void ground(int tensor) {
    int first = lives.firstTick(tensor);
    int last = lives.lastTick(tensor);
    Map.Entry<Integer, Integer> before = grounded.floorEntry(last);
    while (before != null && before.getValue() >= first) {
      first = Math.min(first, before.getKey());
      last = Math.max(last, before.getValue());
      grounded.remove(before.getKey());
      before = grounded.floorEntry(last);
    }
    grounded.put(first, last);
  }

  private long walk(int tensor, int[] order, int count, long[] offsets) {
    if (byOffset == null) {
      long[] keys = new long[count];
      for (int i = 0; i < count; i++) {
        keys[i] = offsets[order[i]];
      }
      byOffset = Arrays.copyOf(IndexSort.ascending(keys), order.length);
      for (int i = 0; i < count; i++) {
        byOffset[i] = order[byOffset[i]];
      }
      placed = count;
    }
    long end = 0;
    long bestGap = Long.MAX_VALUE;
    long bestOffset = -1;
    for (int i = 0; i < placed; i++) {
      int other = byOffset[i];
      if (lives.firstTick(other) > lives.lastTick(tensor)
          || lives.lastTick(other) < lives.firstTick(tensor)) {
        continue;
      }
      long gap = offsets[other] - end;
      if (gap >= 0 && gap < bestGap) {
        bestGap = gap;
        bestOffset = end;
        if (gap == 0) {
          break;
        }
      }
      end = Math.max(end, Sums.align(offsets[other] + lives.size(other), alignment));
    }
    return bestOffset >= 0 ? bestOffset : end;
  }

  /** Behind all that lie as low. */
  private void insert(int tensor, long[] offsets) {
    int from = 0;
    int to = placed;
    while (from < to) {
      int middle = (from + to) >>> 1;
      if (offsets[byOffset[middle]] <= offsets[tensor]) {
        from = middle + 1;
      } else {
        to = middle;
      }
    }
    System.arraycopy(byOffset, from, byOffset, from + 1, placed - from);
    byOffset[from] = tensor;
    placed++;
  }
}
