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
  // is not what is measured. Each side has a count of its own, which the other reads: the producer
  // writes `produced` with release after it filled the slot, and the consumer reads it with acquire
  // before it drains the slot; `consumed` goes the other way, so that a slot is filled again only
  // after it was drained. Each side remembers the last count of the other that it saw, and looks
  // again only when by that count there is nothing to do: on most calls neither touches a cache
  // line
  // that the other writes, but for the slots. The counts lie apart for the same reason.

  /** Longs in two cache lines: processors fetch them in pairs. */
  private static final int APART = 16;

  private static final int PRODUCED = APART;
  private static final int CONSUMED_SEEN = APART + 1;
  private static final int CONSUMED = 3 * APART;
  private static final int PRODUCED_SEEN = 3 * APART + 1;

  private static final VarHandle COUNT = MethodHandles.arrayElementVarHandle(long[].class);

  private final long[] counts = new long[5 * APART];
  private final int capacity;

  Handover(int capacity) {
    if (capacity < 1 || Integer.bitCount(capacity) != 1) {
      throw new IllegalArgumentException("capacity " + capacity + " is not a power of two");
    }
    this.capacity = capacity;
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
    long produced = counts[PRODUCED];
    if (produced - counts[CONSUMED_SEEN] == capacity) {
      counts[CONSUMED_SEEN] = (long) COUNT.getAcquire(counts, CONSUMED);
      if (produced - counts[CONSUMED_SEEN] == capacity) {
        return false;
      }
    }
    fill((int) produced & (capacity - 1), bytes, value);
    COUNT.setRelease(counts, PRODUCED, produced + 1);
    return true;
  }

  /**
   * Releases what was handed over the longest ago.
   *
   * @return false if the queue is empty
   */
  final boolean consume() {
    long consumed = counts[CONSUMED];
    if (consumed == counts[PRODUCED_SEEN]) {
      counts[PRODUCED_SEEN] = (long) COUNT.getAcquire(counts, PRODUCED);
      if (consumed == counts[PRODUCED_SEEN]) {
        return false;
      }
    }
    drain((int) consumed & (capacity - 1));
    COUNT.setRelease(counts, CONSUMED, consumed + 1);
    return true;
  }
}
