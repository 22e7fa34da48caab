package io.prmalloc;

import io.prmalloc.os.MemoryRegion;
import java.nio.ByteBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * A piece of a region that is given out, comes back, and may be given out again. For those who
 * write allocators: users see an {@link Allocation} or an address.
 *
 * <p>Threading: as each method says. A block that is not live belongs to whoever took it from where
 * it lay.
 */
public abstract class Block extends BlockOpening {

  // The state is one word, which says whether the block is at home, and which use it is in if not:
  // see BlockState.
  //
  // A block may be confined (see Confinement): the close of the thread whose own it is is a look
  // and a release store, for nobody else may reopen it. That it is home is read from the state. One
  // that is isolated is never confined: its uses end like those that are observed.

  private final Confinement confinement;

  /**
   * A block at home.
   *
   * <p>Threading: the maker publishes the block safely.
   *
   * @param region where it lies
   * @param offset of its first byte in the region
   * @param capacityBytes how many bytes it has, those for {@link Isolation#roomBytes} included
   * @param isolation of its uses from each other
   */
  protected Block(MemoryRegion region, long offset, long capacityBytes, Isolation isolation) {
    this(region, offset, capacityBytes, null, isolation);
  }

  /**
   * A block at home that one thread at a time takes, and any thread closes.
   *
   * <p>Threading: the maker publishes the block safely.
   *
   * @param confinement says which thread; {@link #goHome} of a confined block is never called
   * @param isolation if there is any, the block is not confined
   */
  protected Block(
      MemoryRegion region,
      long offset,
      long capacityBytes,
      Confinement confinement,
      Isolation isolation) {
    super(
        region,
        Math.toIntExact(offset),
        Math.toIntExact(capacityBytes),
        confinement != null && isolation.isNone(),
        isolation);
    this.confinement = confinement;
  }

  /**
   * A block at home that is all of a region, and the only user of the region's buffer.
   *
   * <p>Threading: the maker publishes the block safely.
   */
  protected Block(MemoryRegion region, Isolation isolation) {
    super(region, isolation);
    this.confinement = null;
  }

  /** A block at home that lies nowhere yet, and not confined. */
  Block(Isolation isolation) {
    super(isolation);
    this.confinement = null;
  }

  /**
   * Puts the block back where it is taken from. Called once per use, by the thread whose close or
   * free won. Stands in the way of every close: what takes long is for {@link #settle}.
   *
   * @return 0 if nothing is left to do, else what {@link #settle} needs to know, more than 0
   */
  protected abstract int goHome();

  /**
   * Does what is left to do, rarely, after {@link #goHome} said so.
   *
   * @param news what it said
   */
  protected abstract void settle(int news);

  /**
   * Tells, right before {@link #goHome}, that the state went home by a release store: whatever is
   * read from now on may have been read before others can see it. After a compare-and-set it is
   * not.
   */
  protected void cameHomeByStore() {}

  /** Tells that an observed use is over; as {@link #goHome}, and before it. */
  protected void tellOfEnd() {}

  // Each question that was never answered with "no" is fifty bytes of machine code on the way of
  // every handle (see OutOfLine), so the first one is the one that most uses need.

  /** Ends the use with this stamp; false, and nothing has changed, if it is not the current one. */
  private boolean end(long stamp) {
    return (stamp & (BlockState.UNUSUAL | BlockState.MARK)) == markOfCaller()
        ? endOwn(stamp)
        : endOther(stamp);
  }

  /** Of a use with the closer's mark and nothing else, which stays: it is noted where it was. */
  private boolean endOwn(long stamp) {
    return change(stamp, stamp + BlockState.TO_HOME) && noteOwn(ready);
  }

  private boolean noteOwn(ReadyBits where) {
    where.note(number());
    if (where.isWatched()) {
      recycleOutOfLine(OutOfLine.DEPTH);
    }
    return true;
  }

  private boolean endOther(long stamp) {
    return (stamp & BlockState.UNUSUAL) == 0 ? endPlain(stamp) : endUnusual(stamp);
  }

  /** Of a use without a mark, or with another thread's, which goes if it does not last. */
  private boolean endPlain(long stamp) {
    if (!change(stamp, BlockState.homeFromOther(stamp))) {
      return false;
    }
    recycle();
    return true;
  }

  private void recycle() {
    int news = goHome();
    if (news != 0) {
      settleOutOfLine(news, OutOfLine.DEPTH);
    }
  }

  /** Where there would be too much code with it: see {@link OutOfLine}. */
  private void recycleOutOfLine(int depth) {
    if (depth > 0) {
      recycleOutOfLine(depth - 1);
    } else {
      recycle();
    }
  }

  /** {@link #settle} out of line: see {@link OutOfLine}. */
  private void settleOutOfLine(int news, int depth) {
    if (depth > 0) {
      settleOutOfLine(news, depth - 1);
    } else {
      settle(news);
    }
  }

  private boolean endUnusual(long stamp) {
    return BlockState.isConfined(stamp) ? endConfined(stamp) : endOver(stamp);
  }

  private boolean endConfined(long stamp) {
    return confinement.isMine() ? endAsOwner(stamp) : change(stamp, stamp + BlockState.TO_HOME);
  }

  /** Without a compare-and-set: until this thread opens it again, the state is home or a stamp. */
  private boolean endAsOwner(long stamp) {
    if ((long) STATE.getOpaque(this) != stamp) {
      return false;
    }
    STATE.setRelease(this, stamp + BlockState.TO_HOME);
    return true;
  }

  /** Of a use after which the closer has something to do before the block is home. */
  private boolean endOver(long stamp) {
    return (stamp & BlockState.ISOLATED) == 0
        ? endObserved(stamp)
        : endIsolated(stamp, OutOfLine.DEPTH);
  }

  /** From over to home. A mark stays if it is the closer's. */
  private void comeHome() {
    // Release: what this thread saw of the block is acquired by the next claim.
    STATE.setRelease(this, BlockState.home(state, markOfCaller()));
    cameHomeByStore();
  }

  /** Not out of line: it is short, and a call would be a tenth of what a recorded pair costs. */
  private boolean endObserved(long stamp) {
    if (!change(stamp, stamp + BlockState.TO_HOME)) {
      return false;
    }
    tellOfEnd();
    comeHome();
    recycleOutOfLine(OutOfLine.DEPTH);
    return true;
  }

  private boolean endIsolated(long stamp, int depth) {
    if (depth > 0) {
      return endIsolated(stamp, depth - 1);
    }
    if (!change(stamp, stamp + BlockState.TO_HOME)) {
      return false;
    }
    int bytes = sizeBytes();
    int end = headerBytes() + bytes;
    int overwritten = -1;
    try {
      overwritten = isolation.end(view, end);
    } finally {
      if ((stamp & BlockState.OBSERVED) != 0) {
        tellOfEnd();
      }
      comeHome();
      recycle();
    }
    if (overwritten >= 0) {
      throw overrun(bytes, overwritten - end);
    }
    return true;
  }

  /**
   * Starts a use through a handle.
   *
   * <p>Threading: the thread that took the block from its home, alone.
   *
   * @param bytes how many bytes the user asked for, at most {@link #capacityBytes}
   */
  public final Allocation open(long bytes) {
    beginOrAbandon(bytes);
    return handle(bytes);
  }

  /**
   * {@link #begin}; the block goes home if that fails, since there is no heap for its view, say.
   *
   * <p>Threading: as {@link #open}.
   *
   * @param bytes as of {@link #open}
   */
  public final void beginOrAbandon(long bytes) {
    try {
      begin((int) bytes);
    } catch (Throwable failure) {
      abandonAfter(failure, bytes);
      throw failure;
    }
  }

  /**
   * Brings a block home that was taken, and that nobody gets since something failed, as the close
   * of its use would.
   *
   * <p>Threading: the thread that took the block from its home, alone.
   *
   * @param bytes how many bytes the user asked for
   * @param headerBytes distance from the block's first byte to the user's
   */
  public final void abandon(long bytes, int headerBytes) {
    if (!isOut(state)) {
      // Without isolation: nobody has written to it.
      extent = extentOf((int) bytes, headerBytes);
      STATE.setRelease(this, BlockState.live(state));
    }
    end(state);
  }

  private void abandonAfter(Throwable failure, long bytes) {
    try {
      abandon(bytes, 0);
    } catch (Throwable second) {
      failure.addSuppressed(second);
    }
  }

  /**
   * The handle of the use that has begun.
   *
   * <p>Threading: the thread that began it, before anybody else may end it.
   *
   * @param bytes as of {@link #open}, and of the use
   */
  public final Allocation handle(long bytes) {
    // The stamp is read again. Whoever has it from begin() would have to keep it where two ways
    // meet, one of which makes a call; the JIT then has it in the stack and not in a register.
    try {
      return new Allocation(this, state, bytes);
    } catch (Throwable noHeap) {
      abandonAfter(noHeap, bytes);
      throw noHeap;
    }
  }

  /**
   * Ends a use that came through a raw address.
   *
   * <p>Threading: any thread; of several one wins.
   *
   * @return false, and nothing has changed, if the block was not live
   */
  public final boolean closeRaw() {
    return closeRaw(stamp());
  }

  /**
   * Ends the use with this stamp, if it came through a raw address and has not ended.
   *
   * <p>Threading: any thread; of several one wins.
   *
   * @param stamp what {@link #stamp} said before the caller looked at what it is about to free: the
   *     block may have come home and gone out again since, and the use it is in now is somebody
   *     else's
   * @return false, and nothing has changed, if it was not the stamp of the current use
   */
  public final boolean closeRaw(long stamp) {
    return isOut(stamp) && end(stamp);
  }

  /**
   * Ends the use of a confined block, whose own thread knows that it is.
   *
   * <p>Threading: the owner.
   *
   * @param address that was given out
   * @return false, and nothing has changed, if the block is not out, begins at another address or
   *     is not confined
   */
  public final boolean closeAsOwner(long address) {
    long stamp = state;
    if (startAddress != address || !BlockState.isConfinedOut(stamp)) {
      return false;
    }
    STATE.setRelease(this, stamp + BlockState.TO_HOME);
    return true;
  }

  final void close(long stamp, long bytes) {
    if (!end(stamp)) {
      throw closed(bytes);
    }
  }

  final long address(long stamp, long bytes) {
    checkLive(stamp, bytes);
    return region.address() + offset;
  }

  final ByteBuffer byteBuffer(long stamp, long bytes) {
    checkLive(stamp, bytes);
    return view;
  }

  final UnsafeBuffer unsafeBuffer(long stamp, long bytes) {
    checkLive(stamp, bytes);
    return unsafeBufferOf(stamp, (int) bytes);
  }

  private void checkLive(long stamp, long bytes) {
    if ((long) STATE.getAcquire(this) != stamp) {
      throw closed(bytes);
    }
  }

  private static IllegalStateException closed(long bytes) {
    return new IllegalStateException("allocation of " + bytes + " bytes was closed before");
  }

  private static IllegalStateException overrun(int bytes, int beyond) {
    return new IllegalStateException(
        "allocation of "
            + bytes
            + " bytes was written beyond its end, at byte "
            + (bytes + beyond));
  }
}
