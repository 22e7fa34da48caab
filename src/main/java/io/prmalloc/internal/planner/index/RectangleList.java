package io.prmalloc.internal.planner.index;

import java.util.Arrays;

/**
 * Free rectangles in one array, in any order.
 *
 * <p>Threading: not safe.
 */
final class RectangleList {

  // Five numbers each, those first that are looked at first: both ticks in one, start, end, the
  // ticks of the floor, the ticks of the roof.

  private static final int WORDS = 5;
  private static final int FIRST_CAPACITY = 4;

  private long[] words = new long[FIRST_CAPACITY * WORDS];
  private int size;

  int size() {
    return size;
  }

  int first(int i) {
    return high(words[WORDS * i]);
  }

  int last(int i) {
    return low(words[WORDS * i]);
  }

  long start(int i) {
    return words[WORDS * i + 1];
  }

  long end(int i) {
    return words[WORDS * i + 2];
  }

  /** {@link GapCursor#FOREVER} where nothing lies above. */
  long height(int i) {
    long end = end(i);
    return end == GapCursor.FOREVER ? end : end - start(i);
  }

  /** A life that touches floor and roof begins no later than this. */
  int latestFirst(int i) {
    return Math.min(low(words[WORDS * i + 3]), low(words[WORDS * i + 4]));
  }

  /** A life that touches floor and roof ends no earlier than this. */
  int earliestLast(int i) {
    return Math.max(high(words[WORDS * i + 3]), high(words[WORDS * i + 4]));
  }

  /** Whether it is alive with all of a life that may touch floor and roof. */
  boolean mayBeGap(int i, int firstTick, int lastTick) {
    return first(i) <= firstTick
        && last(i) >= lastTick
        && latestFirst(i) >= firstTick
        && earliestLast(i) <= lastTick;
  }

  FreeRectangle get(int i) {
    long floor = words[WORDS * i + 3];
    long roof = words[WORDS * i + 4];
    return new FreeRectangle(
        first(i), last(i), high(floor), low(floor), high(roof), low(roof), start(i), end(i));
  }

  void add(FreeRectangle rectangle) {
    ensureRoom();
    int at = WORDS * size++;
    words[at] = pack(rectangle.first(), rectangle.last());
    words[at + 1] = rectangle.start();
    words[at + 2] = rectangle.end();
    words[at + 3] = pack(rectangle.floorFirst(), rectangle.floorLast());
    words[at + 4] = pack(rectangle.roofFirst(), rectangle.roofLast());
  }

  /** Adds one of another list. */
  void add(RectangleList list, int i) {
    ensureRoom();
    System.arraycopy(list.words, WORDS * i, words, WORDS * size++, WORDS);
  }

  private void ensureRoom() {
    if (WORDS * size == words.length) {
      words = Arrays.copyOf(words, 2 * words.length);
    }
  }

  /** Whether one takes up the same place as another. */
  boolean isAt(int i, FreeRectangle place) {
    return words[WORDS * i] == pack(place.first(), place.last())
        && start(i) == place.start()
        && end(i) == place.end();
  }

  /** Removes one; the last takes its number. */
  void remove(int i) {
    size--;
    System.arraycopy(words, WORDS * size, words, WORDS * i, WORDS);
  }

  private static long pack(int high, int low) {
    return (long) high << 32 | low;
  }

  private static int high(long word) {
    return (int) (word >>> 32);
  }

  private static int low(long word) {
    return (int) word;
  }
}
