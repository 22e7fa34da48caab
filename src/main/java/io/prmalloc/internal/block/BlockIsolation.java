package io.prmalloc.internal.block;

import io.prmalloc.Isolation;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.util.concurrent.locks.LockSupport;

/**
 * How the blocks of one allocator are isolated, as long as their memory is there.
 *
 * <p>Threading: any thread.
 */
public final class BlockIsolation {

  // A block is written and read by its isolation when a use begins, before the block's state says
  // so, and when it has ended, before the block is free. An allocator that is closed by force takes
  // the memory of all blocks, also of those that are in the middle of one of the two. So it first
  // closes this object, which lets no thread begin another one and waits for those that have begun.
  //
  // Each counts itself in, looks whether this is closed, and counts itself out at the end. The
  // closer first says that this is closed and then reads the counts. Both orders are those of
  // volatile accesses, so one of the two sees the other. There is a count for each stripe of
  // threads, on cache lines of its own.
  //
  // The wait is short: no lock is taken, and no code of users runs, between in and out. At most a
  // block of 2 GiB is filled.

  /** For blocks that are not isolated, of any number of allocators. Never closed. */
  public static final BlockIsolation NONE = new BlockIsolation(Isolation.NONE, new Stripes(1));

  private static final VarHandle INSIDE = MethodHandles.arrayElementVarHandle(long[].class);

  /** Counts lie so far apart, as a power of two of longs: the processor fetches lines in pairs. */
  private static final int SPREAD_SHIFT = 4;

  /** How long the closer sleeps before it looks again. */
  private static final long PAUSE_NANOS = 20_000;

  private final Isolation isolation;
  private final Stripes stripes;

  /** By stripe, how many threads are inside. */
  private final long[] inside;

  private volatile boolean closed;

  private BlockIsolation(Isolation isolation, Stripes stripes) {
    this.isolation = isolation;
    this.stripes = stripes;
    // One place more, for the first line has the array's header.
    this.inside = new long[(stripes.count() + 1) << SPREAD_SHIFT];
  }

  /** Of the blocks of an allocator. */
  public static BlockIsolation of(Isolation isolation) {
    return isolation.isNone() ? NONE : new BlockIsolation(isolation, Stripes.many());
  }

  /** Whether nothing is done. */
  public boolean isNone() {
    return isolation.isNone();
  }

  /** As {@link Isolation#roomBytes}. */
  public int roomBytes() {
    return isolation.roomBytes();
  }

  /**
   * As {@link Isolation#begin}.
   *
   * @throws IllegalStateException if this is closed; the memory was not accessed then
   */
  void begin(ByteBuffer block, int end) {
    int place = enter();
    try {
      if (closed) {
        throw new IllegalStateException("allocator is closed");
      }
      isolation.begin(block, end);
    } finally {
      leave(place);
    }
  }

  /** As {@link Isolation#end}; −1 if this is closed, and the memory was not accessed then. */
  int end(ByteBuffer block, int end) {
    int place = enter();
    try {
      return closed ? -1 : isolation.end(block, end);
    } finally {
      leave(place);
    }
  }

  /** Counts the caller in; the place of the count. */
  int enter() {
    int place = (stripes.current() + 1) << SPREAD_SHIFT;
    INSIDE.getAndAdd(inside, place, 1L);
    return place;
  }

  /**
   * Counts the caller out.
   *
   * @param place what {@link #enter} said
   */
  void leave(int place) {
    INSIDE.getAndAdd(inside, place, -1L);
  }

  boolean isClosed() {
    return closed;
  }

  /**
   * Ensures that no memory is accessed any more, so that it can be given back. Returns when the
   * accesses have ended that had begun before. If there is no isolation, nothing is accessed.
   */
  public void close() {
    if (isNone()) {
      return;
    }
    closed = true;
    for (int stripe = 0; stripe < stripes.count(); stripe++) {
      while ((long) INSIDE.getVolatile(inside, (stripe + 1) << SPREAD_SHIFT) != 0) {
        LockSupport.parkNanos(PAUSE_NANOS);
      }
    }
  }
}
