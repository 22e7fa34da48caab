package io.prmalloc.recording;

import io.prmalloc.internal.block.NoInline;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * A queue of events from the thread that owns the lane to the thread that writes the file.
 *
 * <p>Threading: as each method says.
 */
@SuppressWarnings("UnusedVariable")
final class EventLane extends LanePadding {

  // A word for each event, and now and then one that says something about those that follow:
  //
  //   | what, 8 bits | value, 56 bits |
  //
  //   an event   kind and alignment; bytes, id or step
  //   JUMP       the next event's stamp is one more than the value; else it is one more than the
  //              stamp before (see EventLanes)
  //   THREAD     the next events are of the thread with this id
  //
  // One thread adds and one takes, so there is nothing to win and no atomic instruction: `added`
  // and `stamp` are written by the one that has the lane, `room` by the writer, each with release.
  // Words that belong together are added together.
  //
  // A thread asks whether the lane is its own by a plain read. It can see itself there only if it
  // put itself there, and a lane is not taken away from a thread that is alive. The next one gets
  // it when this one is dead and all it added is taken.

  /** What {@link #add} says if it added nothing. */
  static final long NOT_ADDED = -1;

  /** Values are less than this. */
  static final long VALUES = 1L << 56;

  /** Of so many bits is a lane's number. */
  static final int NUMBER_BITS = 4;

  private static final int WHAT_SHIFT = 56;

  // Only allocations have an alignment, so these are nothing else.
  private static final int JUMP = 1 << 2 | EventKind.RELEASE.number;
  private static final int THREAD = 2 << 2 | EventKind.RELEASE.number;

  /** An event and what may have to be said before. */
  private static final int MOST_WORDS = 3;

  private static final int LEAST_CAPACITY = 4;

  private static final VarHandle OWNER;
  private static final VarHandle ADDED;
  private static final VarHandle STAMP;
  private static final VarHandle ROOM;

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      OWNER = lookup.findVarHandle(EventLane.class, "owner", Thread.class);
      ADDED = lookup.findVarHandle(EventLane.class, "added", long.class);
      STAMP = lookup.findVarHandle(EventLane.class, "stamp", long.class);
      ROOM = lookup.findVarHandle(EventLane.class, "room", long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final long[] words;
  private final int mask;
  private final int number;
  private Thread owner;
  private Thread lastCaller;

  /** The lane that was first used before this one, or null. */
  private EventLane next;

  private long added;

  /** How many of the words are no events. */
  private long marks;

  /** Of the last event. */
  private long stamp;

  /** Words are added while no more than this were. */
  private long room;

  // What two threads write lies two cache lines apart: fields of one class and size lie in the
  // order in which they are written here.
  private long a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15;

  // Of the writer.
  private long taken;
  private long seen;
  private long stampSeen;
  private long stampTaken;
  private long threadId;

  private long c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15;

  /**
   * @param number less than 2 to the power of {@link #NUMBER_BITS}
   * @param capacity how many words it holds, rounded up to a power of two
   */
  EventLane(int number, int capacity) {
    int most = Math.max(LEAST_CAPACITY, capacity);
    this.words = new long[Integer.highestOneBit(most - 1) << 1];
    this.mask = words.length - 1;
    this.number = number;
    this.room = (long) words.length - MOST_WORDS;
  }

  /** Whether the lane is this thread's. Threading: the thread that is asked about. */
  boolean isOf(Thread caller) {
    return owner == caller;
  }

  /**
   * Puts the lane before those that were used. Threading: the thread whose lane it is, once, before
   * it publishes it.
   */
  void putBefore(EventLane before) {
    next = before;
  }

  /** The lane that was first used before this one, or null. Threading: any thread. */
  EventLane next() {
    return next;
  }

  /** Makes the calling thread the lane's owner if it has none. Threading: any thread. */
  boolean own(Thread caller) {
    return OWNER.getOpaque(this) == null && OWNER.compareAndSet(this, null, caller);
  }

  /** Gives the lane up. Threading: its owner. */
  void disown() {
    OWNER.setRelease(this, null);
  }

  /**
   * Adds an event. Threading: the thread whose lane it is.
   *
   * @param what kind and alignment, less than 256
   * @param value less than {@link #VALUES}
   * @param newest the last one of the lanes that were ever used, this one among them
   * @return the event's id, from 0, or {@link #NOT_ADDED} if there is no room
   */
  long add(Thread caller, int what, long value, EventLane newest) {
    long at = added;
    if (at > (long) ROOM.getAcquire(this)) {
      return NOT_ADDED;
    }
    long latest = latest(newest);
    if (latest != stamp || caller != lastCaller) {
      at = mark(at, caller, latest, NoInline.DEPTH);
    }
    put(at, what, value);
    STAMP.setRelease(this, latest + 1);
    ADDED.setRelease(this, at + 1);
    return at << NUMBER_BITS | number;
  }

  private static long latest(EventLane newest) {
    long latest = 0;
    // A list, for the JIT would unroll a loop over an array; that is too much code for a close.
    for (EventLane lane = newest; lane != null; lane = lane.next) {
      latest = Math.max(latest, (long) STAMP.getOpaque(lane));
    }
    return latest;
  }

  /** Says what is to be said before an event; out of line: see {@link NoInline}. */
  private long mark(long at, Thread caller, long latest, int depth) {
    if (depth > 0) {
      return mark(at, caller, latest, depth - 1);
    }
    long end = at;
    if (latest != stamp) {
      put(end++, JUMP, latest);
    }
    if (caller != lastCaller) {
      put(end++, THREAD, caller.getId() & RecordingFormat.THREAD_MASK);
      lastCaller = caller;
    }
    marks += end - at;
    return end;
  }

  private void put(long at, int what, long value) {
    words[(int) at & mask] = (long) what << WHAT_SHIFT | value;
  }

  /** How many events were ever added. Threading: any thread; exact when none is being added. */
  long events() {
    long all = (long) ADDED.getAcquire(this);
    return all - marks;
  }

  // ---- the writer's

  /**
   * Looks for what was added since. Threading: the writer.
   *
   * @return whether there is something that may have a stamp up to this one
   */
  boolean look(long until) {
    long before = seen;
    boolean mayBeLower = stampSeen <= until;
    // First the stamp: whatever is not seen by the second look has this one or a higher one.
    stampSeen = (long) STAMP.getAcquire(this);
    seen = (long) ADDED.getAcquire(this);
    return mayBeLower && seen > before;
  }

  /** The last event that was there had this stamp or a lower one. */
  long stampSeen() {
    return stampSeen;
  }

  /** Whether all that was seen is taken. */
  boolean isTaken() {
    return taken == seen;
  }

  /** The stamp of the first event seen and not taken; the highest number if there is none. */
  long firstStamp() {
    if (taken == seen) {
      return Long.MAX_VALUE;
    }
    for (int what = what(); isMark(what); what = what()) {
      if (what == JUMP) {
        stampTaken = value();
      } else {
        threadId = value();
      }
      taken++;
    }
    return stampTaken + 1;
  }

  private static boolean isMark(int what) {
    return what == JUMP || what == THREAD;
  }

  /** Kind and alignment of the first event, after {@link #firstStamp}; so the next three. */
  int what() {
    return (int) (words[(int) taken & mask] >>> WHAT_SHIFT);
  }

  /** What was given with it. */
  long value() {
    return words[(int) taken & mask] & (VALUES - 1);
  }

  /** Its id. */
  long id() {
    return taken << NUMBER_BITS | number;
  }

  /** The id of the thread that added it. */
  long threadId() {
    return threadId;
  }

  /** Takes it. */
  void take() {
    taken++;
    stampTaken++;
  }

  /** Makes room by what was taken, and takes the lane from its owner if that is dead. */
  void free() {
    long newRoom = taken + words.length - MOST_WORDS;
    if (room != newRoom) {
      ROOM.setRelease(this, newRoom);
    }
    Thread whose = (Thread) OWNER.getAcquire(this);
    // Asked first: of a thread that is dead, all that it did is seen by what follows.
    if (whose != null && !whose.isAlive() && taken == (long) ADDED.getAcquire(this)) {
      // Of a shared lane it may have become somebody else's meanwhile.
      OWNER.compareAndSet(this, whose, null);
    }
  }
}
