package io.prmalloc.recording;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Events on their way from the threads that allocate to the one that writes.
 *
 * <p>Threading: any thread appends; one reads.
 */
final class EventRing {

  // One atomic instruction for an event: a fetch-and-add on the next tick. It gives the event its
  // place in the order of all events and its slot in the ring at once, so there is nothing to sort
  // later, and no second counter that must agree with the first.
  //
  //   slot of tick t, at t modulo the capacity:   | value | thread, lap, kind |
  //
  // The second word is written last, with release, and by its lap, the number of times the ring was
  // gone round, says that the slot holds tick t and not the one before it there; the writer
  // acquires
  // it. (The lap wraps after 2^16 times, but the slot's last tenant is always of the lap before.)
  // Slots of ticks below `limit` are free to be written: the writer raises it as it goes on, and a
  // tick at or over it has to wait.
  //
  // Slots are as small as can be, because to write one is to fetch its cache line back from the
  // writer's processor, and that is most of what an event costs. So threads that append at the same
  // time share lines; they fight for the counter anyway.
  //
  // A ring that is sealed gives out ticks no slot will ever be free for; the last good one is below
  // sealedAt.

  /** Ticks from here on are of events that came too late. */
  static final long TOO_LATE = 1L << 62;

  /** The low bits of a thread's id that are kept. */
  private static final int THREAD_BITS = 40;

  private static final int LAP_SHIFT = 8;
  private static final int THREAD_SHIFT = Long.SIZE - THREAD_BITS;
  private static final int KIND_MASK = (1 << LAP_SHIFT) - 1;
  private static final int LAP_MASK = ((1 << THREAD_SHIFT) - 1) & ~KIND_MASK;

  private static final VarHandle LONGS = MethodHandles.arrayElementVarHandle(long[].class);

  private final TickCounter counter = new TickCounter();
  private final long[] words;
  private final int mask;
  private final int capacityShift;
  private volatile long limit;
  private volatile long sealedAt = -1;

  /**
   * @param capacity how many events it holds, rounded up to a power of two
   */
  EventRing(int capacity) {
    int slots = capacity == 1 ? 1 : Integer.highestOneBit(capacity - 1) << 1;
    mask = slots - 1;
    capacityShift = Integer.numberOfTrailingZeros(slots);
    words = new long[2 * slots];
    // As if all had been there in the lap before the first.
    for (int slot = 0; slot < slots; slot++) {
      words[2 * slot + 1] = LAP_MASK;
    }
    limit = slots;
  }

  int capacity() {
    return mask + 1;
  }

  /** The next event's tick. */
  long claim() {
    return counter.getAndIncrement();
  }

  /** The tick to be claimed next. What happened before this call has one below it. */
  long next() {
    return counter.get();
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
    int at = slotOf(tick);
    words[at] = value;
    long thread = Thread.currentThread().getId() << THREAD_SHIFT;
    LONGS.setRelease(words, at + 1, thread | lapOf(tick) | what);
    return tick;
  }

  private int slotOf(long tick) {
    return ((int) tick & mask) << 1;
  }

  private long lapOf(long tick) {
    return (tick >>> capacityShift << LAP_SHIFT) & LAP_MASK;
  }

  /** Whether the slot of a tick is filled; then the next three say with what. */
  boolean isPublished(long tick) {
    long word = (long) LONGS.getAcquire(words, slotOf(tick) + 1);
    return (word & LAP_MASK) == lapOf(tick);
  }

  long value(long tick) {
    return words[slotOf(tick)];
  }

  long thread(long tick) {
    return words[slotOf(tick) + 1] >>> THREAD_SHIFT;
  }

  int what(long tick) {
    return (int) words[slotOf(tick) + 1] & KIND_MASK;
  }

  /** The reader is done with all ticks below this one. */
  void free(long tick) {
    limit = tick + capacity();
  }

  /** How many ticks were claimed in time. */
  long claimed() {
    long sealed = sealedAt;
    return sealed >= 0 ? sealed : Math.min(counter.get(), TOO_LATE);
  }

  /** How many events came too late. */
  long tooLate() {
    return Math.max(0, counter.get() - TOO_LATE);
  }

  /** Where the ring was sealed; −1 if it was not. */
  long sealedAt() {
    return sealedAt;
  }

  /** Lets no further event be in time. A second time it does nothing. */
  synchronized void seal() {
    if (sealedAt < 0) {
      sealedAt = counter.getAndSet(TOO_LATE);
    }
  }
}
