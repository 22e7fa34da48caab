package io.prmalloc;

import io.prmalloc.os.MemoryRegion;

/**
 * How a use of a {@link Block} begins.
 *
 * <p>Threading: as each method says.
 */
abstract class BlockOpening extends BlockViews {

  /** Null for none. */
  final Isolation isolation;

  /** How many uses there had been when the largest was cleared. */
  private long usesCleared;

  /** A part of a region. */
  BlockOpening(
      MemoryRegion region, int offset, int capacityBytes, boolean confined, Isolation isolation) {
    super(region, offset, capacityBytes, BlockState.first(confined));
    this.isolation = orNull(isolation);
  }

  /** All of a region, and the only user of its buffer. */
  BlockOpening(MemoryRegion region, Isolation isolation) {
    super(region);
    this.isolation = orNull(isolation);
  }

  /** A block that lies nowhere yet. */
  BlockOpening(Isolation isolation) {
    this.isolation = orNull(isolation);
  }

  /** {@link BlockViews#place}. */
  final void place(MemoryRegion region, int offset, int capacityBytes, long start) {
    place(region, offset, capacityBytes, start, isolation != null);
  }

  private static Isolation orNull(Isolation isolation) {
    return isolation.isNone() ? null : isolation;
  }

  /**
   * Starts a use through a raw address.
   *
   * <p>Threading: the thread that took the block from its home, alone.
   *
   * @param bytes how many bytes the user asked for; with the header at most {@link #capacityBytes}
   * @param headerBytes distance from the block's first byte to the user's
   * @return the stamp of the use
   */
  public final long openRaw(long bytes, int headerBytes) {
    // The byte buffer stays as it is: who has the address does not see it.
    int size = (int) bytes;
    long stamp = nextStamp(headerBytes + size);
    long wanted = extentOf(size, headerBytes);
    if (extent != wanted) {
      resize(wanted, OutOfLine.DEPTH);
    }
    return publish(stamp);
  }

  /**
   * {@link #openRaw} without a header, by the thread whose own the block is: for less if it is
   * confined.
   *
   * <p>Threading: as {@link #openRaw}.
   *
   * @return {@link #startAddress}
   * @throws IllegalStateException if this JVM cannot tell addresses; nothing has changed then
   */
  public final long openAsOwner(long bytes) {
    long start = startAddress();
    long home = state;
    if (BlockState.isConfined(home)) {
      if (extent != bytes) {
        resize(bytes, OutOfLine.DEPTH);
      }
      publish(BlockState.live(home));
    } else {
      openRaw(bytes, 0);
    }
    return start;
  }

  /**
   * Starts a use, as {@link Block#open} does; the handle is for {@link Block#handle}.
   *
   * <p>Threading: as {@link Block#open}.
   *
   * @return the stamp of the use
   */
  public final long begin(int bytes) {
    long stamp = nextStamp(bytes);
    if (!isAsFor(bytes)) {
      prepare(bytes, OutOfLine.DEPTH);
    }
    return publish(stamp);
  }

  /** The stamp of the use that begins, and isolated if it must be. */
  private long nextStamp(int end) {
    return isolation == null ? BlockState.live(state) : isolate(end);
  }

  /**
   * {@link #claimMarked} and {@link #begin(int)} in one, for less. Not of a block that is isolated.
   *
   * <p>Threading: as {@link #claimMarked}.
   *
   * @param bytes as of {@link Block#open}
   * @return the stamp of the use; 0, and nothing has changed, if the block is not home or has
   *     another mark
   */
  public final long beginMarked(long mark, long bytes) {
    // Of the state that was read, not of one that was written and must be read again: what was just
    // written takes the processor seven cycles to read, and the close would wait for that.
    long seen = (long) STATE.getAcquire(this);
    return BlockState.isHome(seen, mark) ? beginFrom(seen, bytes) : 0;
  }

  /**
   * {@link #beginMarked} or {@link #openRaw} for a use that is like the one before.
   *
   * @param wanted the {@link #extent} of the use
   * @return as {@link #beginMarked}; also 0 if the use before had another extent
   */
  public final long reopenMarked(long mark, long wanted) {
    long seen = (long) STATE.getAcquire(this);
    return BlockState.isHome(seen, mark) && isAsFor(wanted) ? publish(BlockState.live(seen)) : 0;
  }

  /**
   * {@link #claim(long, ReadyBits)} and {@link #begin(int)} in one, for less. Not of a block that
   * is isolated.
   *
   * <p>Threading: as {@link #claim(long, ReadyBits)}.
   *
   * @param where as of {@link #claim(long, ReadyBits)}
   * @param bytes as of {@link Block#open}
   * @return the stamp of the use; 0, and nothing has changed, if the block was not to be had
   */
  public final long beginUnmarked(long mark, ReadyBits where, long bytes) {
    long seen = (long) STATE.getOpaque(this);
    return claim(seen, mark, where) ? beginFrom(seen + mark, bytes) : 0;
  }

  // The sizes and the view of a use are often those of the use before. Where they are not, what is
  // to do is a call (see OutOfLine).

  private long beginFrom(long home, long bytes) {
    if (!isAsFor(bytes)) {
      prepare((int) bytes, OutOfLine.DEPTH);
    }
    // Not before that question: the JIT would run out of registers.
    return publish(BlockState.live(home));
  }

  private boolean isAsFor(long wanted) {
    // In this order: a handle's request is to ask no question more.
    return extent == wanted && (isViewOf((int) wanted) || hasHeader(wanted));
  }

  /** Whether an extent is of an address with a header, whose user sees no view. */
  private static boolean hasHeader(long extent) {
    return extent > Integer.MAX_VALUE;
  }

  private void prepare(int bytes, int depth) {
    if (depth > 0) {
      prepare(bytes, depth - 1);
    } else {
      // The view comes first: there may be no heap for it, and then it is not as for these bytes.
      adjustView(bytes);
      resize(bytes);
    }
  }

  private void resize(long wanted, int depth) {
    if (depth > 0) {
      resize(wanted, depth - 1);
    } else {
      resize(wanted);
    }
  }

  private void resize(long wanted) {
    largestBefore = largestBytes();
    extent = wanted;
  }

  private long publish(long stamp) {
    STATE.setRelease(this, stamp);
    return stamp;
  }

  /** The most bytes ever asked for in a use. Threading: any thread, within a use or so. */
  public final int largestBytes() {
    return uses() > usesCleared ? Math.max(largestBefore, sizeBytes()) : largestBefore;
  }

  /**
   * Lets {@link #largestBytes} begin anew with the next use.
   *
   * <p>Threading: any thread; a use that begins at the same moment may be forgotten.
   */
  public final void clearLargest() {
    usesCleared = uses();
    largestBefore = 0;
  }

  private long isolate(int end) {
    isolation.begin(view, end);
    return BlockState.live(state) | BlockState.ISOLATED;
  }
}
