package io.prmalloc.recording;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Releases on their way from the one thread that owns the lane to the one that writes.
 *
 * <p>Threading: as each method says.
 */
@SuppressWarnings("UnusedVariable")
final class ReleaseLane extends CounterPadding {

  // A word for each release:  | position, 48 bits | age, 16 bits |
  //
  // The position is how many ticks had been claimed when the memory came back; the age is how many
  // of those were claimed since it went out. What does not fit goes through the ring.
  //
  // One thread adds and one takes, so there is nothing to win and no atomic instruction: `added` is
  // written by the owner, `room` by the writer, each with release.
  //
  // The owner asks whether it is the owner by a plain read. It can see itself there only if it put
  // itself there, and nobody takes a thread away that is alive. The next owner gets the lane when
  // this one is dead and all it added is taken.

  private static final int AGE_BITS = 16;

  /** Releases of allocations from so many ticks ago are not for a lane. */
  static final long TOO_OLD = 1L << AGE_BITS;

  /** Nor are those from this position on. */
  private static final long TOO_LATE = 1L << (Long.SIZE - AGE_BITS - 1);

  private static final VarHandle OWNER;
  private static final VarHandle ADDED;
  private static final VarHandle ROOM;

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      OWNER = lookup.findVarHandle(ReleaseLane.class, "owner", Thread.class);
      ADDED = lookup.findVarHandle(ReleaseLane.class, "added", long.class);
      ROOM = lookup.findVarHandle(ReleaseLane.class, "room", long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final long[] words;
  private final int mask;
  private Thread owner;
  private long added;
  private long room;

  /** Of the writer. */
  private long taken;

  private long seen;
  private long threadId;

  private long a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15;

  /**
   * @param capacity how many releases it holds, a power of two
   */
  ReleaseLane(int capacity) {
    words = new long[capacity];
    mask = capacity - 1;
    room = capacity;
  }

  /**
   * Adds a release. Threading: any thread.
   *
   * @param id the tick of the allocation
   * @param position the next tick, read before
   * @return false, and nothing has changed, if the lane is not the caller's, has no room, or is not
   *     for such a release
   */
  boolean add(Thread caller, long id, long position) {
    long at = added;
    if (owner != caller
        || at >= (long) ROOM.getAcquire(this)
        || position - id >= TOO_OLD
        || position >= TOO_LATE) {
      return false;
    }
    words[(int) at & mask] = position << AGE_BITS | (position - id);
    ADDED.setRelease(this, at + 1);
    return true;
  }

  /** Makes the lane the calling thread's if it is nobody's. Threading: any thread. */
  void own() {
    if (OWNER.getOpaque(this) == null) {
      OWNER.compareAndSet(this, null, Thread.currentThread());
    }
  }

  /** How many were ever added. Threading: any thread. */
  long added() {
    return (long) ADDED.getAcquire(this);
  }

  // ---- the writer's

  /**
   * Looks for what was added since. Threading: the writer.
   *
   * @return whether there is a new one from before this position
   */
  boolean look(long position) {
    long before = seen;
    Thread whose = (Thread) OWNER.getAcquire(this);
    if (whose == null) {
      return false;
    }
    // Asked first: of a thread that is dead, all that it did is seen by what follows.
    boolean alive = whose.isAlive();
    threadId = whose.getId();
    seen = added();
    if (!alive && taken == seen) {
      OWNER.setRelease(this, null);
    }
    return seen > before && positionAt(before) < position;
  }

  private long positionAt(long at) {
    return words[(int) at & mask] >>> AGE_BITS;
  }

  /** The position of the first one seen and not taken; the highest if there is none. */
  long position() {
    return taken < seen ? positionAt(taken) : Long.MAX_VALUE;
  }

  /** The tick of the allocation of the first one. */
  long id() {
    long word = words[(int) taken & mask];
    return (word >>> AGE_BITS) - (word & (TOO_OLD - 1));
  }

  /** Who added the first one. */
  long threadId() {
    return threadId;
  }

  /** Takes the first one. */
  void take() {
    taken++;
  }

  /** Makes room by what was taken. */
  void free() {
    ROOM.setRelease(this, taken + mask + 1);
  }
}
