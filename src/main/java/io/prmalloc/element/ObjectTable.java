package io.prmalloc.element;

import java.util.Arrays;
import java.util.Objects;

/**
 * Maps objects of the JVM to numbers that fit into off-heap memory.
 *
 * <p>Threading: any thread, under one lock.
 */
final class ObjectTable {

  // A number is made of a place in the table and of that place's generation:
  //
  //    63            32 31             0
  //    +----------------+----------------+
  //    |   generation   |   place + 1    |
  //    +----------------+----------------+
  //
  // 0 is the number of no object. A place that is given up forgets its object, moves on to the next
  // generation and is used again before the table grows, so the table is never larger than the most
  // objects there were at a time, and a number that is out of date, or a copy of one, or made of
  // bytes that somebody wrote over a slot, is told from the true one. After 2^31 generations a
  // place is not used again.

  private static final int FIRST_CAPACITY = 16;

  private Object[] objects = new Object[FIRST_CAPACITY];
  private int[] generations = new int[FIRST_CAPACITY];
  private int[] free = new int[FIRST_CAPACITY];
  private int freePlaces;
  private int usedPlaces;

  /** The number of a new entry. */
  synchronized long put(Object object) {
    Objects.requireNonNull(object, "object");
    if (freePlaces > 0) {
      int place = free[--freePlaces];
      objects[place] = object;
      return number(place);
    }
    if (usedPlaces == objects.length) {
      grow();
    }
    int place = usedPlaces++;
    objects[place] = object;
    generations[place] = 1;
    return number(place);
  }

  /** Nothing has changed if there is no memory for it. */
  private void grow() {
    int capacity = Math.multiplyExact(usedPlaces, 2);
    Object[] moreObjects = Arrays.copyOf(objects, capacity);
    int[] moreGenerations = Arrays.copyOf(generations, capacity);
    free = Arrays.copyOf(free, capacity);
    generations = moreGenerations;
    objects = moreObjects;
  }

  private long number(int place) {
    return (long) generations[place] << Integer.SIZE | place + 1;
  }

  /**
   * The entry with a number.
   *
   * @throws IllegalStateException if there is none
   */
  synchronized Object get(long number) {
    return objects[place(number)];
  }

  /**
   * Ends an entry.
   *
   * @throws IllegalStateException if there is none; nothing has changed then
   */
  synchronized void remove(long number) {
    int place = place(number);
    objects[place] = null;
    if (generations[place] < Integer.MAX_VALUE) {
      generations[place]++;
      free[freePlaces++] = place;
    }
  }

  /** How many entries there are. */
  synchronized int size() {
    int size = 0;
    for (Object object : objects) {
      if (object != null) {
        size++;
      }
    }
    return size;
  }

  private int place(long number) {
    int place = (int) number - 1;
    if (place < 0
        || place >= usedPlaces
        || generations[place] != (int) (number >>> Integer.SIZE)
        || objects[place] == null) {
      throw new IllegalStateException(
          "slot holds 0x"
              + Long.toHexString(number)
              + ", which is no live object: it was overwritten or is out of date");
    }
    return place;
  }
}
