package io.prmalloc.internal.planner.index;

/**
 * Sorts indices by a key, stably and without boxing them: a million tensors are sorted several
 * times per plan.
 *
 * <p>Threading: any thread.
 */
public final class IndexSort {

  // Merge sort from the bottom up, runs of two, four, and so on, between two arrays.

  private IndexSort() {}

  /** The indices 0, 1, … of an array in the order of its values, the smallest first. O(n log n). */
  public static int[] ascending(long[] keys) {
    int[] from = new int[keys.length];
    for (int i = 0; i < from.length; i++) {
      from[i] = i;
    }
    int[] to = new int[keys.length];
    for (int run = 1; run < keys.length && run > 0; run *= 2) {
      for (long begin = 0; begin < keys.length; begin += 2L * run) {
        int middle = (int) Math.min(begin + run, keys.length);
        int end = (int) Math.min(begin + 2L * run, keys.length);
        merge(keys, from, to, (int) begin, middle, end);
      }
      int[] merged = to;
      to = from;
      from = merged;
    }
    return from;
  }

  /** As {@link #ascending}, the largest first; equals stay in their order. */
  public static int[] descending(long[] keys) {
    long[] complements = new long[keys.length];
    for (int i = 0; i < keys.length; i++) {
      // Turns the order around, without the overflow that a minus sign has.
      complements[i] = ~keys[i];
    }
    return ascending(complements);
  }

  private static void merge(long[] keys, int[] from, int[] to, int begin, int middle, int end) {
    int left = begin;
    int right = middle;
    if (middle == end || keys[from[middle - 1]] <= keys[from[middle]]) {
      System.arraycopy(from, begin, to, begin, end - begin);
      return;
    }
    for (int i = begin; i < end; i++) {
      if (right == end || (left < middle && keys[from[left]] <= keys[from[right]])) {
        to[i] = from[left++];
      } else {
        to[i] = from[right++];
      }
    }
  }
}
