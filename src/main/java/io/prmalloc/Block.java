package io.prmalloc;

import io.prmalloc.os.AgronaAccess;
import io.prmalloc.os.MemoryRegion;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * A piece of a region that is given out, comes back, and may be given out again. For those who
 * write allocators: users see an {@link Allocation} or an address.
 *
 * <p>Threading: as each method says. A block that is not live belongs to whoever took it from where
 * it lay.
 */
public abstract class Block extends CacheLinePadding {

  // The state is one word, which says whether the block is at home, and which use it is in if not:
  // see BlockState.
  //
  // A block may be confined (see Confinement): the close of the thread whose own it is is a look
  // and
  // a release store, for nobody else may reopen it. That it is home is read from the state.
  //
  // The views are made once per block and adjusted at the first call of each use: no garbage. The
  // byte buffer is made with the block, for to make it at the first look would be a call in the
  // middle of a user's try that may fail, and its handler would put the handle on the heap (see
  // OutOfLine). The stamp for which a view was adjusted is written with release and read with
  // acquire, so that a second thread that sees the stamp sees the limit too: a buffer's fields are
  // neither final nor volatile.

  private static final VarHandle STATE;
  private static final VarHandle VIEW_STAMP;
  private static final VarHandle UNSAFE_VIEW;
  private static final VarHandle UNSAFE_VIEW_STAMP;

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      STATE = lookup.findVarHandle(Block.class, "state", long.class);
      VIEW_STAMP = lookup.findVarHandle(Block.class, "viewStamp", long.class);
      UNSAFE_VIEW_STAMP = lookup.findVarHandle(Block.class, "unsafeViewStamp", long.class);
      UNSAFE_VIEW = lookup.findVarHandle(Block.class, "unsafeView", UnsafeBuffer.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final MemoryRegion region;
  private final int offset;
  private final int capacityBytes;
  private final ByteBuffer view;
  private final Confinement confinement;

  private long state;
  private int sizeBytes;
  private int headerBytes;
  private int largestBytes;

  @SuppressWarnings("UnusedVariable") // through VIEW_STAMP
  private long viewStamp;

  @SuppressWarnings("UnusedVariable") // through UNSAFE_VIEW
  private UnsafeBuffer unsafeView;

  @SuppressWarnings("UnusedVariable") // through UNSAFE_VIEW_STAMP
  private long unsafeViewStamp;

  private long startAddress;

  /**
   * A block at home.
   *
   * <p>Threading: the maker publishes the block safely.
   *
   * @param region where it lies
   * @param offset of its first byte in the region
   * @param capacityBytes how many bytes it has
   */
  protected Block(MemoryRegion region, long offset, long capacityBytes) {
    this(region, offset, capacityBytes, null);
  }

  /**
   * A block at home that one thread at a time takes, and any thread closes.
   *
   * <p>Threading: the maker publishes the block safely.
   *
   * @param confinement says which thread; {@link #goHome} of a confined block is never called
   */
  protected Block(MemoryRegion region, long offset, long capacityBytes, Confinement confinement) {
    this.region = region;
    this.offset = Math.toIntExact(offset);
    this.capacityBytes = Math.toIntExact(capacityBytes);
    this.view = region.buffer().slice(this.offset, this.capacityBytes);
    this.confinement = confinement;
    this.state = BlockState.first(confinement != null);
  }

  /**
   * A block at home that is all of a region, and the only user of the region's buffer.
   *
   * <p>Threading: the maker publishes the block safely.
   */
  protected Block(MemoryRegion region) {
    this.region = region;
    this.offset = 0;
    this.capacityBytes = Math.toIntExact(region.sizeBytes());
    this.view = region.buffer();
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

  /** Tells that an observed use is over; as {@link #goHome}, and before it. */
  protected void tellOfEnd() {}

  /** Ends the use with this stamp; false, and nothing has changed, if it is not the current one. */
  private boolean end(long stamp) {
    return (stamp & BlockState.UNUSUAL) == 0 ? endPlain(stamp) : endUnusual(stamp);
  }

  private boolean endPlain(long stamp) {
    if (!STATE.compareAndSet(this, stamp, stamp + BlockState.TO_HOME)) {
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

  /** {@link #settle} out of line: see {@link OutOfLine}. */
  private void settleOutOfLine(int news, int depth) {
    if (depth > 0) {
      settleOutOfLine(news, depth - 1);
    } else {
      settle(news);
    }
  }

  private boolean endUnusual(long stamp) {
    return BlockState.isConfined(stamp) ? endConfined(stamp) : endObserved(stamp);
  }

  private boolean endConfined(long stamp) {
    return confinement.isMine()
        ? endAsOwner(stamp)
        : STATE.compareAndSet(this, stamp, stamp + BlockState.TO_HOME);
  }

  /** Without a compare-and-set: until this thread opens it again, the state is home or a stamp. */
  private boolean endAsOwner(long stamp) {
    if ((long) STATE.getOpaque(this) != stamp) {
      return false;
    }
    STATE.setRelease(this, stamp + BlockState.TO_HOME);
    return true;
  }

  private boolean endObserved(long stamp) {
    if (!STATE.compareAndSet(this, stamp, stamp + BlockState.TO_HOME)) {
      return false;
    }
    tellOfEnd();
    giveUp();
    recycle();
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
    int size = (int) bytes;
    return new Allocation(this, open(size, 0), size);
  }

  /**
   * Starts a use through a raw address.
   *
   * <p>Threading: the thread that took the block from its home, alone.
   *
   * @param bytes how many bytes the user asked for; with the header at most {@link #capacityBytes}
   * @param headerBytes distance from the block's first byte to the user's
   */
  public final void openRaw(long bytes, int headerBytes) {
    open((int) bytes, headerBytes);
  }

  private long open(int bytes, int header) {
    sizeBytes = bytes;
    headerBytes = header;
    if (bytes > largestBytes) {
      largestBytes = bytes;
    }
    long stamp = BlockState.live(state);
    STATE.setRelease(this, stamp);
    return stamp;
  }

  /**
   * Asks for {@link #tellOfEnd} at the end of the use that is about to begin. Threading: the thread
   * that took the block from its home, alone, before the use begins.
   */
  public final void observe() {
    state |= BlockState.OBSERVED;
  }

  /**
   * Takes the block from its home, if it is there.
   *
   * <p>Threading: any thread; of several one wins, and has the block alone from then on.
   */
  public final boolean claim() {
    long seen = (long) STATE.getOpaque(this);
    return isHome(seen) && STATE.compareAndSet(this, seen, seen + BlockState.CLAIMED);
  }

  /**
   * Undoes {@link #claim}, without {@link #goHome}.
   *
   * <p>Threading: the thread that claimed the block.
   */
  public final void giveUp() {
    // Release: what this thread saw of the block is acquired by the next claim.
    STATE.setRelease(this, BlockState.home(state));
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
   * The stamp of the current use, or, while the block is at home, one that {@link #isOut} denies.
   *
   * <p>Threading: any thread; true of the moment of the call.
   */
  public final long stamp() {
    return (long) STATE.getAcquire(this);
  }

  /** Whether a stamp is one of a use. Threading: any thread. */
  public static boolean isOut(long stamp) {
    return BlockState.isOut(stamp);
  }

  /** Whether a stamp says that the block is at home. Threading: any thread. */
  public static boolean isHome(long stamp) {
    return BlockState.isHome(stamp);
  }

  /** Which use of its block a stamp is of, from 1. Threading: any thread. */
  public static long useOf(long stamp) {
    return BlockState.useOf(stamp);
  }

  /**
   * Ends the current use, if there is one, without putting the block back: for an allocator that is
   * closed by force. Handles on it are closed from then on.
   *
   * <p>Threading: any thread.
   *
   * @return whether there was a use to end
   */
  public final boolean revoke() {
    long stamp = (long) STATE.getAcquire(this);
    return isOut(stamp) && STATE.compareAndSet(this, stamp, BlockState.claimedAfter(stamp));
  }

  final void close(long stamp, int bytes) {
    if (!end(stamp)) {
      throw closed(bytes);
    }
  }

  final boolean isLive(long stamp) {
    return (long) STATE.getAcquire(this) == stamp;
  }

  final long address(long stamp, int bytes) {
    checkLive(stamp, bytes);
    return region.address() + offset;
  }

  final ByteBuffer byteBuffer(long stamp, int bytes) {
    checkLive(stamp, bytes);
    ByteBuffer buffer = view;
    if ((long) VIEW_STAMP.getAcquire(this) != stamp) {
      adjustView(buffer, bytes);
      VIEW_STAMP.setRelease(this, stamp);
    }
    return buffer;
  }

  // Written only if it must be: the collector may put the views of two blocks side by side, and
  // then two threads that use them would write to one cache line.
  private static void adjustView(ByteBuffer buffer, int bytes) {
    if (buffer.limit() != bytes
        || buffer.position() != 0
        || buffer.order() != ByteOrder.nativeOrder()) {
      buffer.clear().limit(bytes).order(ByteOrder.nativeOrder());
    }
  }

  final UnsafeBuffer unsafeBuffer(long stamp, int bytes) {
    checkLive(stamp, bytes);
    UnsafeBuffer buffer = (UnsafeBuffer) UNSAFE_VIEW.getAcquire(this);
    if (buffer == null || (long) UNSAFE_VIEW_STAMP.getAcquire(this) != stamp) {
      return adjustUnsafeView(buffer, stamp, bytes);
    }
    return buffer;
  }

  private UnsafeBuffer adjustUnsafeView(UnsafeBuffer existing, long stamp, int bytes) {
    UnsafeBuffer buffer = existing != null ? existing : newUnsafeView(OutOfLine.DEPTH);
    buffer.wrap(region.address() + offset, bytes);
    UNSAFE_VIEW_STAMP.setRelease(this, stamp);
    return buffer;
  }

  /** Out of line, for it is what warm-up does at every look: see {@link OutOfLine}. */
  private UnsafeBuffer newUnsafeView(int depth) {
    if (depth > 0) {
      return newUnsafeView(depth - 1);
    }
    AgronaAccess.require();
    UnsafeBuffer buffer = new UnsafeBuffer(0, 0);
    UnsafeBuffer other = (UnsafeBuffer) UNSAFE_VIEW.compareAndExchange(this, null, buffer);
    return other == null ? buffer : other;
  }

  private void checkLive(long stamp, int bytes) {
    if ((long) STATE.getAcquire(this) != stamp) {
      throw closed(bytes);
    }
  }

  private static IllegalStateException closed(int bytes) {
    return new IllegalStateException("allocation of " + bytes + " bytes was closed before");
  }

  /** Where the block lies. Threading: any thread. */
  public final MemoryRegion region() {
    return region;
  }

  /** Offset of the block's first byte in its region. Threading: any thread. */
  public final int offset() {
    return offset;
  }

  /**
   * Address of the block's first byte; found out at the first call, for it may cost a native call.
   *
   * <p>Threading: any thread.
   *
   * @throws IllegalStateException if this JVM cannot tell addresses
   */
  public final long startAddress() {
    long start = startAddress;
    if (start == 0) {
      start = region.address() + offset;
      startAddress = start;
    }
    return start;
  }

  /** How many bytes the block has. Threading: any thread. */
  public final int capacityBytes() {
    return capacityBytes;
  }

  /**
   * Bytes asked for in the current or last use. Threading: exact for whoever holds the use, else a
   * guess.
   */
  public final int sizeBytes() {
    return sizeBytes;
  }

  /** The most bytes ever asked for in a use. Threading: any thread, within a use or so. */
  public final int largestBytes() {
    return largestBytes;
  }

  /** Header bytes of the current or last use, 0 for a handle. Threading: as {@link #sizeBytes}. */
  public final int headerBytes() {
    return headerBytes;
  }

  /** Whether the block is out. Threading: any thread; true of the moment of the call. */
  public final boolean isLive() {
    return isOut(stamp());
  }

  /**
   * Whether the block is home. What its last user did happened before.
   *
   * <p>Threading: any thread; true of the moment of the call.
   */
  public final boolean isAtHome() {
    return isHome(stamp());
  }

  /** How often the block was given out. Threading: any thread. */
  public final long uses() {
    return useOf(stamp());
  }

  /**
   * Bytes asked for if the block is out, else 0; of one moment.
   *
   * <p>Threading: any thread.
   */
  public final long bytesInUse() {
    while (true) {
      long stamp = stamp();
      if (!isOut(stamp)) {
        return 0;
      }
      long bytes = bytesIn(stamp);
      if (bytes >= 0) {
        return bytes;
      }
    }
  }

  /**
   * Bytes asked for in the use with this stamp, or −1 if that is not the current one. If it is,
   * what the caller read of the block since it asked for the stamp was of that use too.
   *
   * <p>Threading: any thread.
   *
   * @param stamp what {@link #stamp} said
   */
  public final long bytesIn(long stamp) {
    int bytes = sizeBytes;
    VarHandle.acquireFence();
    return isOut(stamp) && (long) STATE.getOpaque(this) == stamp ? bytes : -1;
  }

  /**
   * Lets {@link #largestBytes} begin anew with the next use.
   *
   * <p>Threading: any thread; a use that begins at the same moment may be forgotten.
   */
  public final void clearLargest() {
    largestBytes = 0;
  }
}
