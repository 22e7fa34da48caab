package io.prmalloc.jmh.rival;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * A bounded queue from the one thread that allocates to the one that releases.
 *
 * <p>Threading: {@link #produce} is for one thread, {@link #consume} for one other.
 */
public abstract class Handover {

  // A ring with one producer and one consumer, as cheap as such a queue gets, because what it costs
  // is not what is measured. A quarter of it is filled or drained at a time, in a loop with nothing
  // else in it. To come back to JMH after each slot would be a dozen stores more for each, and a
  // producer waits for its stores: they go out in their order, behind those to lines that the
  // consumer had.
  //
  // Each side publishes a count, which the other reads: the producer writes `produced` with release
  // after it filled slots, and the consumer reads it with acquire before it drains them; `consumed`
  // goes the other way, so that a slot is filled again only after it was drained. Each side
  // remembers the last count of the other that it saw, and looks again only when by that count
  // there is nothing to do. So on most calls neither touches a line that the other does; and the
  // counts lie apart.

  /** Longs in two cache lines: processors fetch them in pairs. */
  private static final int APART = 16;

  private static final int PRODUCED = APART;
  private static final int CONSUMED = 3 * APART;

  private static final int FILLED = 5 * APART;
  private static final int CONSUMED_SEEN = 5 * APART + 1;

  private static final int DRAINED = 7 * APART;
  private static final int PRODUCED_SEEN = 7 * APART + 1;

  /** The ring is filled and drained by so many parts, each at once. */
  public static final int PARTS = 4;

  private static final VarHandle COUNT = MethodHandles.arrayElementVarHandle(long[].class);

  private final long[] counts = new long[9 * APART];
  private final int capacity;
  private final int part;

  /**
   * Nothing is on the way.
   *
   * @param capacity a power of two, from {@value #PARTS}
   */
  public Handover(int capacity) {
    if (capacity < PARTS || Integer.bitCount(capacity) != 1) {
      throw new IllegalArgumentException(
          "capacity " + capacity + " is not a power of two from " + PARTS);
    }
    this.capacity = capacity;
    this.part = capacity / PARTS;
  }

  /**
   * For each of some empty slots: allocates, touches the first 8 bytes, and puts what it got there.
   *
   * @param from the first slot
   * @param to the one after the last
   */
  abstract void fill(int from, int to, long bytes, long value);

  /**
   * Releases what is in some full slots.
   *
   * @param from the first slot
   * @param to the one after the last
   */
  abstract void drain(int from, int to);

  /**
   * Allocates a quarter of the capacity, and hands it over.
   *
   * @return false if there is not as much room; nothing is allocated then
   */
  public final boolean produce(long bytes, long value) {
    long filled = counts[FILLED];
    if (filled - counts[CONSUMED_SEEN] == capacity) {
      counts[CONSUMED_SEEN] = (long) COUNT.getAcquire(counts, CONSUMED);
      if (filled - counts[CONSUMED_SEEN] == capacity) {
        return false;
      }
    }
    int from = slot(filled);
    fill(from, from + part, bytes, value);
    counts[FILLED] = filled + part;
    COUNT.setRelease(counts, PRODUCED, filled + part);
    return true;
  }

  /**
   * Releases the quarter that was handed over the longest ago.
   *
   * @return false if there is nothing
   */
  public final boolean consume() {
    long drained = counts[DRAINED];
    if (drained == counts[PRODUCED_SEEN]) {
      counts[PRODUCED_SEEN] = (long) COUNT.getAcquire(counts, PRODUCED);
      if (drained == counts[PRODUCED_SEEN]) {
        return false;
      }
    }
    int from = slot(drained);
    drain(from, from + part);
    counts[DRAINED] = drained + part;
    COUNT.setRelease(counts, CONSUMED, drained + part);
    return true;
  }

  private int slot(long count) {
    return (int) count & (capacity - 1);
  }
}
