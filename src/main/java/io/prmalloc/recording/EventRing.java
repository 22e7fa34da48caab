package io.prmalloc.recording;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Events on their way from the threads that allocate to the one that writes.
 *
 * <p>Threading: any thread appends; one reads.
 */
final class EventRing {

  // One atomic instruction per event: a fetch-and-add on the next tick. It gives the event its
  // place in the order of all events and its slot in the ring at once, so there is nothing to sort
  // later, and no second counter that must agree with the first.
  //
  //   slot of tick t, at t modulo the capacity:   | value | thread and kind | t + 1 | unused |
  //
  // The third word is written last, with release, and says that the slot holds tick t; the writer
  // acquires it. Slots of ticks below `limit` are free to be written: the writer raises it as it
  // goes on, and a tick at or over it has to wait. Two neighbours share a cache line, for to keep
  // them apart would double the ring, and threads that append at the same time fight for the
  // counter anyway.
  //
  // A ring that is sealed gives out ticks no slot will ever be free for; the last good one is below
  // sealedAt.

  /** Ticks from here on are of events that came too late. */
  static final long TOO_LATE = 1L << 62;

  private static final int SLOT_SHIFT = 2;
  private static final int THREAD_SHIFT = 8;
  private static final int KIND_MASK = (1 << THREAD_SHIFT) - 1;

  /** The counter has two cache lines before and behind it for itself. */
  private static final int COUNTER_AT = 16;

  private static final VarHandle LONGS = MethodHandles.arrayElementVarHandle(long[].class);

  private final long[] counter = new long[2 * COUNTER_AT];
  private final long[] words;
  private final int mask;
  private volatile long limit;
  private volatile long sealedAt = -1;

  /**
   * @param capacity how many events it holds, rounded up to a power of two
   */
  EventRing(int capacity) {
    int slots = capacity == 1 ? 1 : Integer.highestOneBit(capacity - 1) << 1;
    mask = slots - 1;
    words = new long[slots << SLOT_SHIFT];
    limit = slots;
  }

  int capacity() {
    return mask + 1;
  }

  /** The next event's tick. */
  long claim() {
    return (long) LONGS.getAndAdd(counter, COUNTER_AT, 1L);
  }

  /** Whether the slot of a claimed tick is free. */
  boolean hasRoom(long tick) {
    return tick < limit;
  }

  /**
   * Fills the slot of a claimed tick that has room.
   *
   * @param what kind and alignment, less than 256
   * @return the tick
   */
  long publish(long tick, int what, long value) {
    int at = ((int) tick & mask) << SLOT_SHIFT;
    words[at] = value;
    words[at + 1] = Thread.currentThread().getId() << THREAD_SHIFT | what;
    LONGS.setRelease(words, at + 2, tick + 1);
    return tick;
  }

  /** Whether the slot of a tick is filled; then the next three say with what. */
  boolean isPublished(long tick) {
    return (long) LONGS.getAcquire(words, (((int) tick & mask) << SLOT_SHIFT) + 2) == tick + 1;
  }

  long value(long tick) {
    return words[((int) tick & mask) << SLOT_SHIFT];
  }

  long thread(long tick) {
    return words[(((int) tick & mask) << SLOT_SHIFT) + 1] >>> THREAD_SHIFT;
  }

  int what(long tick) {
    return (int) words[(((int) tick & mask) << SLOT_SHIFT) + 1] & KIND_MASK;
  }

  /** The reader is done with all ticks below this one. */
  void free(long tick) {
    limit = tick + capacity();
  }

  /** How many ticks were claimed in time. */
  long claimed() {
    long sealed = sealedAt;
    return sealed >= 0 ? sealed : Math.min((long) LONGS.getAcquire(counter, COUNTER_AT), TOO_LATE);
  }

  /** How many events came too late. */
  long tooLate() {
    return Math.max(0, (long) LONGS.getAcquire(counter, COUNTER_AT) - TOO_LATE);
  }

  /** Where the ring was sealed; −1 if it was not. */
  long sealedAt() {
    return sealedAt;
  }

  /** Lets no further event be in time. A second time it does nothing. */
  synchronized void seal() {
    if (sealedAt < 0) {
      sealedAt = (long) LONGS.getAndSet(counter, COUNTER_AT, TOO_LATE);
    }
  }
}
