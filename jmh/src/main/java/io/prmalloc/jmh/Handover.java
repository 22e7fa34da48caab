package io.prmalloc.jmh;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * A bounded queue from the one thread that allocates to the one that releases.
 *
 * <p>Threading: {@link #produce} is for one thread, {@link #consume} for one other.
 */
abstract class Handover {

  // A ring with one producer and one consumer, as cheap as such a queue gets, because what it costs
  // is not what is measured. Each side publishes a count, which the other reads: the producer
  // writes `produced` with release after it filled slots, and the consumer reads it with acquire
  // before it drains them; `consumed` goes the other way, so that a slot is filled again only after
  // it was drained. Each side remembers the last count of the other that it saw, and looks again
  // only when by that count there is nothing to do. And it publishes its own only when a quarter of
  // the ring is done: else the quicker side looks at the other's count after each slot, and takes
  // from it the cache line that it is about to write. So on most calls neither touches a line that
  // the other does; and the counts lie apart. When one side waits, all counts are multiples of a
  // quarter, so nothing that the other waits for stays unpublished.

  /** Longs in two cache lines: processors fetch them in pairs. */
  private static final int APART = 16;

  private static final int PRODUCED = APART;
  private static final int CONSUMED = 3 * APART;

  private static final int FILLED = 5 * APART;
  private static final int CONSUMED_SEEN = 5 * APART + 1;

  private static final int DRAINED = 7 * APART;
  private static final int PRODUCED_SEEN = 7 * APART + 1;

  /** So many times a lap each side publishes its count. */
  private static final int PARTS = 4;

  private static final VarHandle COUNT = MethodHandles.arrayElementVarHandle(long[].class);

  private final long[] counts = new long[9 * APART];
  private final int capacity;

  /** So many slots are filled or drained between two counts that are published. */
  private final int part;

  Handover(int capacity) {
    if (capacity < 1 || Integer.bitCount(capacity) != 1) {
      throw new IllegalArgumentException("capacity " + capacity + " is not a power of two");
    }
    this.capacity = capacity;
    this.part = Math.max(1, capacity / PARTS);
  }

  /** Allocates, touches the first 8 bytes and puts what it got into an empty slot. */
  abstract void fill(int slot, long bytes, long value);

  /** Releases what is in a full slot. */
  abstract void drain(int slot);

  /**
   * Allocates and hands over.
   *
   * @return false if the queue is full; nothing is allocated then
   */
  final boolean produce(long bytes, long value) {
    long filled = counts[FILLED];
    if (filled - counts[CONSUMED_SEEN] == capacity) {
      counts[CONSUMED_SEEN] = (long) COUNT.getAcquire(counts, CONSUMED);
      if (filled - counts[CONSUMED_SEEN] == capacity) {
        return false;
      }
    }
    fill((int) filled & (capacity - 1), bytes, value);
    counts[FILLED] = filled + 1;
    publish(PRODUCED, filled + 1);
    return true;
  }

  private void publish(int which, long count) {
    if ((count & (part - 1)) == 0) {
      COUNT.setRelease(counts, which, count);
    }
  }

  /**
   * Releases what was handed over the longest ago.
   *
   * @return false if the queue is empty
   */
  final boolean consume() {
    long drained = counts[DRAINED];
    if (drained == counts[PRODUCED_SEEN]) {
      counts[PRODUCED_SEEN] = (long) COUNT.getAcquire(counts, PRODUCED);
      if (drained == counts[PRODUCED_SEEN]) {
        return false;
      }
    }
    drain((int) drained & (capacity - 1));
    counts[DRAINED] = drained + 1;
    publish(CONSUMED, drained + 1);
    return true;
  }

  /** Releases everything. Threading: one thread, when no other uses this any more. */
  final void drainAll() {
    for (long left = counts[DRAINED]; left < counts[FILLED]; left++) {
      drain((int) left & (capacity - 1));
    }
    counts[DRAINED] = counts[FILLED];
  }
}
