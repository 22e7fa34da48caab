package io.prmalloc;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The state of a {@link Block}, and how the block leaves its home to be used.
 *
 * <p>Threading: as each method says.
 */
abstract class BlockClaims extends CacheLinePadding {

  // What is read or written in every use comes first, so that it lies together: in one cache line,
  // if the collector puts the block so.

  /** How many marks there are. */
  private static final int MARKS = 64;

  static final VarHandle STATE;

  static {
    try {
      STATE = MethodHandles.lookup().findVarHandle(BlockClaims.class, "state", long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /** See {@link BlockState}. */
  long state;

  /** Read in every use by address, so it lies here, too; 0 until somebody asks. */
  long startAddress;

  /** Of all uses since it was cleared but the current or last one. */
  int largestBefore;

  /** By which its home knows it. */
  private int number;

  /** {@link #extentOf} the current or last use. */
  long extent;

  /**
   * Where it is noted when a thread closes it whose mark it has: always a word of its number, or
   * the bit would be another block's. Null if it never had a mark.
   */
  ReadyBits ready;

  /** A block at home. */
  BlockClaims(long firstState) {
    state = firstState;
  }

  /** Brings the state from one to another; false, and nothing has changed, if it is not the one. */
  final boolean change(long from, long to) {
    // HotSpot makes five instructions of the answer of compareAndSet, and two of this.
    return (long) STATE.compareAndExchange(this, from, to) == from;
  }

  /**
   * The mark of the calling thread, which it shares with those whose numbers are so many times 64
   * away. A block that it closes keeps this mark, and loses any other that does not last.
   *
   * <p>Threading: any thread.
   */
  public static long markOfCaller() {
    return ((Thread.currentThread().getId() & (MARKS - 1)) + 1) << BlockState.MARK_SHIFT;
  }

  /** Whether a stamp has a mark. Threading: any thread. */
  public static boolean isMarked(long stamp) {
    return (stamp & BlockState.MARK) != 0;
  }

  /** Whether a stamp has {@link #markOfCaller}. Threading: any thread. */
  public static boolean isMarkOfCaller(long stamp) {
    return (stamp & BlockState.MARK) == markOfCaller();
  }

  /**
   * The number of the threads whose mark a stamp has, from 0 to 63: the last six bits of theirs.
   * Threading: any thread.
   */
  public static int markerOf(long stamp) {
    return (int) ((stamp & BlockState.MARK) >>> BlockState.MARK_SHIFT) - 1;
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

  /** By which its home knows the block; 0 until it is {@link #setNumber said}. Threading: any. */
  public final int number() {
    return number;
  }

  /** Says the number. Threading: the maker, before the block is published. */
  protected final void setNumber(int number) {
    this.number = number;
  }

  /** How often the block was given out. Threading: any thread. */
  public final long uses() {
    return useOf(stamp());
  }

  final boolean isLive(long stamp) {
    return (long) STATE.getAcquire(this) == stamp;
  }

  /**
   * Asks for {@link Block#tellOfEnd} at the end of the use that is about to begin. Threading: the
   * thread that took the block from its home, alone, before the use begins.
   */
  public final void observe() {
    state |= BlockState.OBSERVED;
  }

  /**
   * Takes the block from its home, if it is there and has no mark.
   *
   * <p>Threading: any thread; of several one wins, and has the block alone from then on.
   */
  public final boolean claim() {
    return claim(0, null);
  }

  /**
   * The same, and marks the block.
   *
   * <p>Threading: as {@link #claim()}; the mark belongs to the calling thread.
   *
   * @param mark {@link #markOfCaller}, or 0 for none
   * @param where the block is noted from now on when it comes home with this mark
   */
  public final boolean claim(long mark, ReadyBits where) {
    return claim((long) STATE.getOpaque(this), mark, where);
  }

  /** The same, of a state that was seen. */
  final boolean claim(long seen, long mark, ReadyBits where) {
    return claimFrom(seen, mark) && noteIn(mark, where);
  }

  private boolean claimFrom(long seen, long mark) {
    return BlockState.isHome(seen, 0) && change(seen, seen + BlockState.CLAIMED + mark);
  }

  private boolean noteIn(long mark, ReadyBits where) {
    if (mark != 0 && ready != where) {
      noteOutOfLine(where, OutOfLine.DEPTH);
    }
    return true;
  }

  /** It is seldom another one, and to write a reference is much machine code: see OutOfLine. */
  private void noteOutOfLine(ReadyBits where, int depth) {
    if (depth > 0) {
      noteOutOfLine(where, depth - 1);
    } else {
      ready = where;
    }
  }

  /** Where it is noted when it comes home with a mark, or null. Threading: any thread. */
  protected final ReadyBits ready() {
    return ready;
  }

  /**
   * Whether a stamp is neither 0 nor that of a sample: of a block's uses the first is one and every
   * 256th after it. For those who look now and then, and do not want to count.
   *
   * <p>Threading: any thread.
   */
  public static boolean isNoSample(long stamp) {
    return BlockState.isNoSample(stamp);
  }

  /**
   * Takes the block from its home, if it is there and has this mark. Without a compare-and-set.
   *
   * <p>Threading: the thread to which the mark belongs, while nobody else may call this or {@link
   * #unmark} with it.
   */
  public final boolean claimMarked(long mark) {
    long seen = (long) STATE.getAcquire(this);
    if (!BlockState.isHome(seen, mark)) {
      return false;
    }
    STATE.setOpaque(this, seen + BlockState.CLAIMED);
    return true;
  }

  /**
   * Marks the block, if it is home and has no mark. Threading: the thread to which the mark
   * belongs.
   *
   * @param lasting whether the mark stays, until {@link #unmark}, also if another thread closes the
   *     block
   * @param where as of {@link #claim(long, ReadyBits)}
   * @return whether it is home and has this mark, lasting or not
   */
  public final boolean mark(long mark, boolean lasting, ReadyBits where) {
    long seen = (long) STATE.getOpaque(this);
    return BlockState.isHome(seen, mark)
        || (BlockState.isHome(seen, 0) && markFrom(seen, mark, lasting, where));
  }

  private boolean markFrom(long seen, long mark, boolean lasting, ReadyBits where) {
    // If another thread marks it now, that one's closes are noted with this one: a hint that is
    // elsewhere, and no loss. Written only if it must be: to write a reference takes a fence where
    // G1 collects, and makes it look there.
    if (ready != where) {
      ready = where;
    }
    return change(seen, seen + mark + (lasting ? BlockState.LASTING : 0));
  }

  /**
   * Whether the block is at home and has this mark, lasting or not. Threading: any thread; true of
   * the moment of the call.
   */
  public final boolean isMarkedAtHome(long mark) {
    return BlockState.isHome((long) STATE.getOpaque(this), mark);
  }

  /**
   * Whether the block is at home and has no mark. Threading: any thread; true of the moment of the
   * call.
   */
  public final boolean isUnmarkedAtHome() {
    return BlockState.isHome((long) STATE.getOpaque(this), 0);
  }

  /**
   * Undoes {@link #mark} if the block is home.
   *
   * <p>Threading: as {@link #claimMarked}, of all threads whose marks are meant.
   *
   * @param marker whose mark: as {@link #markerOf}, its last bits
   * @param markerBits which bits of that count
   */
  public final void unmark(int marker, int markerBits) {
    long seen = (long) STATE.getAcquire(this);
    if (isHome(seen) && isMarked(seen) && (markerOf(seen) & markerBits) == marker) {
      change(seen, BlockState.home(seen));
    }
  }

  /**
   * Undoes a claim, without {@link Block#goHome}; the block has no mark then.
   *
   * <p>Threading: the thread that claimed the block.
   */
  public final void giveUp() {
    // Release: what this thread saw of the block is acquired by the next claim.
    STATE.setRelease(this, BlockState.home(state));
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
    return isOut(stamp) && change(stamp, BlockState.claimedAfter(stamp));
  }

  /**
   * What a use takes, as one number: its bytes and, above those 32 bits, those of its header. Of a
   * handle, which has none, the bytes alone. Threading: any thread.
   */
  public static long extentOf(int bytes, int headerBytes) {
    return bytes | (long) headerBytes << Integer.SIZE;
  }

  /** {@link #extentOf} the current or last use. Threading: as {@link #sizeBytes}. */
  public final long extent() {
    return extent;
  }

  /**
   * Bytes asked for in the current or last use. Threading: exact for whoever holds the use, else a
   * guess.
   */
  public final int sizeBytes() {
    return (int) extent;
  }

  /** Header bytes of the current or last use, 0 for a handle. Threading: as {@link #sizeBytes}. */
  public final int headerBytes() {
    return (int) (extent >>> Integer.SIZE);
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
    int bytes = sizeBytes();
    VarHandle.acquireFence();
    return isOut(stamp) && (long) STATE.getOpaque(this) == stamp ? bytes : -1;
  }
}
