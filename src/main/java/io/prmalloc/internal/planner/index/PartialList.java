package io.prmalloc.internal.planner.index;

import java.util.Arrays;

/**
 * The placed tensors that are alive in part of a column only, by offset.
 *
 * <p>Threading: not safe.
 */
final class PartialList {

  private long[] offsets = new long[4];
  private long[] ends = new long[4];
  private int[] firstTicks = new int[4];
  private int[] lastTicks = new int[4];
  private int count;

  /** Adds a tensor. O(count). */
  void add(int firstTick, int lastTick, long offset, long end) {
    if (count == offsets.length) {
      offsets = Arrays.copyOf(offsets, 2 * count);
      ends = Arrays.copyOf(ends, 2 * count);
      firstTicks = Arrays.copyOf(firstTicks, 2 * count);
      lastTicks = Arrays.copyOf(lastTicks, 2 * count);
    }
    int found = Arrays.binarySearch(offsets, 0, count, offset);
    int i = found >= 0 ? found : -found - 1;
    System.arraycopy(offsets, i, offsets, i + 1, count - i);
    System.arraycopy(ends, i, ends, i + 1, count - i);
    System.arraycopy(firstTicks, i, firstTicks, i + 1, count - i);
    System.arraycopy(lastTicks, i, lastTicks, i + 1, count - i);
    offsets[i] = offset;
    ends[i] = end;
    firstTicks[i] = firstTick;
    lastTicks[i] = lastTick;
    count++;
  }

  /** Walks over what those tensors leave free that are alive during a life. */
  static final class Cursor extends GapCursor {

    private PartialList list;
    private int firstTick;
    private int lastTick;
    private int next;

    /** Stands at the first span. */
    void begin(PartialList newList, int newFirstTick, int newLastTick) {
      list = newList;
      firstTick = newFirstTick;
      lastTick = newLastTick;
      next = 0;
      start = 0;
      end = 0;
      advance(0, 1);
    }

    @Override
    void advance(long from, long size) {
      long to = end;
      long top = start;
      while (to - Math.max(top, from) < size) {
        // Over the tensor that ends the span, and all that lie no higher than what is taken.
        for (to = FOREVER; next < list.count; next++) {
          if (list.firstTicks[next] <= lastTick && list.lastTicks[next] >= firstTick) {
            if (list.offsets[next] > top && list.offsets[next] - Math.max(top, from) >= size) {
              to = list.offsets[next];
              break;
            }
            top = Math.max(top, list.ends[next]);
          }
        }
      }
      start = top;
      end = to;
    }
  }
}
