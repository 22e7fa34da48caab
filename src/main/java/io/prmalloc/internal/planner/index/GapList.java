package io.prmalloc.internal.planner.index;

import java.util.Arrays;

/**
 * What is free in a stretch of time: ascending disjoint spans of addresses, the last without end.
 *
 * <p>Threading: not safe.
 */
final class GapList {

  // Spans lie in chunks of up to 64, each chunk a flat array of starts and ends, with the largest
  // span of the chunk beside it: a search for room passes over chunks that have none. A list of m
  // spans is found into by binary search over m/48 chunks and one chunk. Most lists are one short
  // chunk, so a chunk starts small.
  //
  // Only what is at least `least` long is kept: less is never asked for.

  private static final int MAX_SPANS = 64;
  private static final int FIRST_SPANS = 4;

  private final long least;
  private long[][] chunks = new long[1][];
  private int[] counts = new int[1];
  private long[] largest = new long[1];
  private int chunkCount = 1;

  /**
   * Everything is free.
   *
   * @param least no shorter span is of interest, from 1
   */
  GapList(long least) {
    this.least = least;
    chunks[0] = new long[2 * FIRST_SPANS];
    chunks[0][1] = GapCursor.FOREVER;
    counts[0] = 1;
    largest[0] = GapCursor.FOREVER;
  }

  /** Nothing of a span is free any more. */
  void occupy(long from, long to) {
    int chunk = chunkAbove(from);
    int i = spanAbove(chunk, from);
    while (true) {
      if (i == counts[chunk]) {
        chunk++;
        i = 0;
        continue;
      }
      long start = chunks[chunk][2 * i];
      long end = chunks[chunk][2 * i + 1];
      if (start >= to) {
        return;
      }
      boolean keepLeft = from - start >= least;
      boolean keepRight = end > to && end - to >= least;
      if (keepLeft && keepRight) {
        split(chunk, i, from, to);
        return;
      }
      if (keepLeft) {
        resize(chunk, i, start, from);
        i++;
      } else if (keepRight) {
        resize(chunk, i, to, end);
      } else {
        // The last span has no end and is always kept, so no list gets empty.
        boolean wasAlone = counts[chunk] == 1;
        remove(chunk, i);
        if (wasAlone) {
          i = 0;
        }
      }
      if (end >= to) {
        return;
      }
    }
  }

  /** The first chunk that has a span that ends above an address. */
  private int chunkAbove(long address) {
    int from = 0;
    int to = chunkCount - 1;
    while (from < to) {
      int middle = (from + to) >>> 1;
      if (chunks[middle][2 * counts[middle] - 1] > address) {
        to = middle;
      } else {
        from = middle + 1;
      }
    }
    return from;
  }

  private int spanAbove(int chunk, long address) {
    long[] spans = chunks[chunk];
    int from = 0;
    int to = counts[chunk] - 1;
    while (from < to) {
      int middle = (from + to) >>> 1;
      if (spans[2 * middle + 1] > address) {
        to = middle;
      } else {
        from = middle + 1;
      }
    }
    return from;
  }

  private void resize(int chunk, int i, long start, long end) {
    long[] spans = chunks[chunk];
    long before = spans[2 * i + 1] - spans[2 * i];
    spans[2 * i] = start;
    spans[2 * i + 1] = end;
    if (before == largest[chunk]) {
      findLargest(chunk);
    }
  }

  private void remove(int chunk, int i) {
    if (counts[chunk] == 1) {
      int behind = chunkCount - chunk - 1;
      System.arraycopy(chunks, chunk + 1, chunks, chunk, behind);
      System.arraycopy(counts, chunk + 1, counts, chunk, behind);
      System.arraycopy(largest, chunk + 1, largest, chunk, behind);
      chunkCount--;
      chunks[chunkCount] = null;
      return;
    }
    long[] spans = chunks[chunk];
    long before = spans[2 * i + 1] - spans[2 * i];
    System.arraycopy(spans, 2 * i + 2, spans, 2 * i, 2 * (counts[chunk] - i - 1));
    counts[chunk]--;
    if (before == largest[chunk]) {
      findLargest(chunk);
    }
  }

  /** Cuts a hole into a span. */
  private void split(int chunk, int i, long from, long to) {
    if (counts[chunk] == MAX_SPANS) {
      halve(chunk);
      if (i >= MAX_SPANS / 2) {
        split(chunk + 1, i - MAX_SPANS / 2, from, to);
        return;
      }
    }
    if (2 * counts[chunk] == chunks[chunk].length) {
      chunks[chunk] = Arrays.copyOf(chunks[chunk], 2 * chunks[chunk].length);
    }
    long[] spans = chunks[chunk];
    long before = spans[2 * i + 1] - spans[2 * i];
    System.arraycopy(spans, 2 * i + 1, spans, 2 * i + 3, 2 * (counts[chunk] - i) - 1);
    spans[2 * i + 1] = from;
    spans[2 * i + 2] = to;
    counts[chunk]++;
    if (before == largest[chunk]) {
      findLargest(chunk);
    }
  }

  private void halve(int chunk) {
    if (chunkCount == chunks.length) {
      chunks = Arrays.copyOf(chunks, 2 * chunkCount);
      counts = Arrays.copyOf(counts, 2 * chunkCount);
      largest = Arrays.copyOf(largest, 2 * chunkCount);
    }
    int behind = chunkCount - chunk - 1;
    System.arraycopy(chunks, chunk + 1, chunks, chunk + 2, behind);
    System.arraycopy(counts, chunk + 1, counts, chunk + 2, behind);
    System.arraycopy(largest, chunk + 1, largest, chunk + 2, behind);
    chunkCount++;
    long[] upper = new long[2 * MAX_SPANS];
    System.arraycopy(chunks[chunk], MAX_SPANS, upper, 0, MAX_SPANS);
    chunks[chunk + 1] = upper;
    counts[chunk] = MAX_SPANS / 2;
    counts[chunk + 1] = MAX_SPANS / 2;
    findLargest(chunk);
    findLargest(chunk + 1);
  }

  private void findLargest(int chunk) {
    long[] spans = chunks[chunk];
    long most = 0;
    for (int i = 0; i < 2 * counts[chunk]; i += 2) {
      most = Math.max(most, spans[i + 1] - spans[i]);
    }
    largest[chunk] = most;
  }

  /** Walks over a list. */
  static final class Cursor extends GapCursor {

    private GapList list;
    private int chunk;
    private int next;

    /** Stands at the first span of a list, which must not change meanwhile. */
    void begin(GapList newList) {
      list = newList;
      chunk = 0;
      next = 1;
      start = list.chunks[0][0];
      end = list.chunks[0][1];
    }

    @Override
    void advance(long from, long size) {
      long wanted = from + size;
      while (true) {
        long[] spans = list.chunks[chunk];
        int count = list.counts[chunk];
        if (list.largest[chunk] >= size && spans[2 * count - 1] >= wanted) {
          for (int i = next; i < count; i++) {
            long to = spans[2 * i + 1];
            if (to >= wanted && to - spans[2 * i] >= size) {
              start = spans[2 * i];
              end = to;
              next = i + 1;
              return;
            }
          }
        }
        chunk++;
        next = 0;
      }
    }
  }
}
