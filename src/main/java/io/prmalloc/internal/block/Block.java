package io.prmalloc.internal.block;

import io.prmalloc.Allocation;
import io.prmalloc.MemoryRegion;
import io.prmalloc.internal.os.AgronaAccess;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * A part of a region that is allocated, freed, and allocated again. For authors of allocators;
 * users see an {@link Allocation} or an address.
 *
 * <p>Threading: as each method says. A claimed block belongs to the thread that claimed it.
 */
public abstract class Block extends CacheLinePadding {

  // The state is one word that answers everything a handle must know. It is a counter that grows by
  // 32 with every use:
  //
  //     32k        free       k uses are over
  //     32k + 1    claimed    one thread alone has the block, but its use has not begun
  //     32k + 2    allocated  the stamp of use k + 1, which never comes again (2^58 uses)
  //
  // Four operations change it:
  //
  //   claim     free to claimed, by a compare-and-set that one of several takers wins. A block from
  //             a source that gives it to one taker alone (a stack, the system) has no competitors,
  //             and goes from free to allocated directly.
  //   begin     to allocated, by a release store: a thread that acquires the stamp sees the fields
  //             that were written before it. A use that is like the one before needs no field
  //             written, and so goes from free to allocated by one compare-and-set (see reopen).
  //   close     allocated to the next free, by a compare-and-set that exactly one of several
  //             closers wins. Two closes of a confined block may both return if one is by its
  //             owner; the block is freed once. The release is acquired by the next claim, or
  //             through the stack on which onFreed() puts the block.
  //   check     state == stamp: is the handle's use the current one? A stale handle's stamp never
  //             comes again, whichever thread has the block now.
  //
  // Three more bits are part of the stamp of a use that ends in an unusual way:
  //
  //   OBSERVED  4   an observer is told of the end of this use. The thread that takes the block
  //                 sets it before the use begins.
  //   CONFINED  8   one thread at a time takes the block (see StepMemory): its close is a read and
  //                 a release store, for no other thread may reopen the block. Always set in such a
  //                 block.
  //   ISOLATED  16  the memory is checked and filled at the end of the use. Never confined.
  //
  // The compare-and-set that closes an observed or isolated use adds as much as any other. It
  // leaves a state that is neither free nor allocated, so the closer alone has the block: it does
  // what is to be done, and then stores the free state.
  //
  // The same word counts the uses, so the pool needs no counter of hits on the fast path.

  private static final long CLAIMED = 1;
  private static final long ALLOCATED = 2;
  private static final long OBSERVED = 4;
  private static final long CONFINED = 8;
  private static final long ISOLATED = 16;
  private static final int USE_SHIFT = 5;

  /**
   * The most bytes that a buffer shows. A large block (see {@link Requests#isLarge}) reports this
   * as its capacity and as the size of its uses; the true sizes are in its handle and in {@link
   * HeapBlock}.
   */
  static final long MOST_SEEN_BYTES = MemoryRegion.MAX_BYTES;

  /**
   * The state that is left of a use that was revoked. The thread that began the use may read it as
   * the stamp of the handle that it makes next. So it has a bit that no common stamp has, and its
   * close is told from others where that costs those nothing (see endOver).
   */
  private static final long REVOKED = CLAIMED | OBSERVED;

  private static final long NOT_FREE = CLAIMED | ALLOCATED | OBSERVED | ISOLATED;

  /** The bits that few stamps have beside the number of their use. */
  private static final long UNUSUAL = OBSERVED | CONFINED | ISOLATED;

  /**
   * The difference from allocated to the next free state; also that from an observed or isolated
   * use to its end.
   */
  private static final long TO_FREE = (1 << USE_SHIFT) - ALLOCATED;

  /**
   * The view of a block without memory: the view of a block that other threads may read is never
   * null.
   */
  private static final ByteBuffer NO_MEMORY = ByteBuffer.allocateDirect(0);

  private static final VarHandle STATE;
  private static final VarHandle UNSAFE_VIEW;
  private static final VarHandle UNSAFE_VIEW_STAMP;

  /** A constant, so that the JIT inlines its methods. */
  static final Handles HANDLES;

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      STATE = lookup.findVarHandle(Block.class, "state", long.class);
      UNSAFE_VIEW_STAMP = lookup.findVarHandle(Block.class, "unsafeViewStamp", long.class);
      UNSAFE_VIEW = lookup.findVarHandle(Block.class, "unsafeView", UnsafeBuffer.class);
      HANDLES = Handles.initialize(lookup);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
    letViewsBeInlined();
  }

  /**
   * Each access to a byte buffer calls a method whose result has one of these classes, and the JIT
   * inlines no such call while the class is not loaded. Often nothing loads it but the JIT, when it
   * compiles that method itself; and then it depends on the moment of compilation whether a user's
   * try has a call in it (see NoInline).
   */
  private static void letViewsBeInlined() {
    load("jdk.internal.misc.ScopedMemoryAccess$Scope"); // Java 17
    load("jdk.internal.foreign.MemorySessionImpl"); // Java 19 and later
  }

  private static void load(String name) {
    try {
      Class.forName(name, false, null);
    } catch (ClassNotFoundException e) {
      // Another Java, which calls no method with such a result.
    }
  }

  // The JVM puts the longs of a class first: what every use reads or writes lies together.

  /** See above. */
  private long state;

  /** {@link #extentOf} the current or last use. */
  private long extent;

  /** Read in every use by address; 0 before it was first asked for. */
  private long startAddress;

  @SuppressWarnings("UnusedVariable") // through UNSAFE_VIEW_STAMP
  private long unsafeViewStamp;

  /** The number of uses when the largest was cleared. */
  private long usesCleared;

  /** The largest of all uses since it was cleared, without the current or last one. */
  private int largestBefore;

  // If a block is placed once, offset and capacity do not change. If it is placed anew for each use
  // (see place), they change while it is free, and are published with the use that begins.

  private int offset;
  private int capacityBytes;

  /** Null while the block has no memory: see {@link #attach}. */
  private MemoryRegion region;

  // The views are made once per block: no garbage. The byte buffer is made with the block, for
  // making it at the first use would be a call in the middle of a user's try that may fail, and its
  // handler would put the handle on the heap (see NoInline). It is adjusted when a use through a
  // handle begins, before the state says so by a release store: a thread that sees the handle's
  // stamp in the state sees the limit too, though a buffer's fields are neither final nor volatile.
  // Agrona's buffer, which most users never need, is made and adjusted at its first use; the stamp
  // that it was made for is written with release and read with acquire, for the same reason.

  /**
   * All of the block; its limit is that of the current or last use. Null of a block that was placed
   * anew and has not been used through a handle there.
   */
  private ByteBuffer view;

  @SuppressWarnings("UnusedVariable") // through UNSAFE_VIEW
  private UnsafeBuffer unsafeView;

  /** Null for none. Shared by the blocks of an allocator. */
  private final BlockIsolation isolation;

  /** Null for a block that any thread takes. */
  private final StepMemory owner;

  /**
   * A free block.
   *
   * <p>Threading: the maker publishes the block safely.
   *
   * @param region where it lies; null for none yet, and then the block is to be claimed at once and
   *     {@link #attach} says later where
   * @param offset of its first byte in the region
   * @param capacityBytes how many bytes it has, those for {@link BlockIsolation#roomBytes} included
   * @param isolation of its uses from each other
   */
  protected Block(MemoryRegion region, long offset, long capacityBytes, BlockIsolation isolation) {
    this(region, offset, capacityBytes, null, isolation);
  }

  /**
   * A free block that one thread at a time takes, and any thread closes.
   *
   * <p>Threading: the maker publishes the block safely.
   *
   * @param owner the step whose thread takes it, or null; {@link #onFreed} of a confined block is
   *     never called
   * @param isolation if there is any, the block is not confined
   */
  protected Block(
      MemoryRegion region,
      long offset,
      long capacityBytes,
      StepMemory owner,
      BlockIsolation isolation) {
    this.state = owner != null && isolation.isNone() ? CONFINED : 0;
    this.offset = Math.toIntExact(offset);
    this.capacityBytes = Math.toIntExact(capacityBytes);
    this.region = region;
    this.view = region == null ? NO_MEMORY : slice(region, this.offset, this.capacityBytes);
    this.isolation = orNull(isolation);
    this.owner = owner;
  }

  /**
   * A free block that is all of a region, and the only user of the region's buffer.
   *
   * <p>Threading: the maker publishes the block safely.
   */
  protected Block(MemoryRegion region, BlockIsolation isolation) {
    this.region = region;
    this.capacityBytes = (int) Math.min(region.sizeBytes(), MOST_SEEN_BYTES);
    this.view = region.buffer();
    this.isolation = orNull(isolation);
    this.owner = null;
  }

  /** A free block that lies nowhere yet, and is not confined. */
  Block(BlockIsolation isolation) {
    this.isolation = orNull(isolation);
    this.owner = null;
  }

  private static BlockIsolation orNull(BlockIsolation isolation) {
    return isolation.isNone() ? null : isolation;
  }

  private static ByteBuffer slice(MemoryRegion region, int offset, int capacityBytes) {
    // The region's own buffer may be a view, too, that ends where its user's bytes do.
    ByteBuffer all = region.buffer().duplicate().clear();
    return all.slice(offset, capacityBytes).order(ByteOrder.nativeOrder());
  }

  // What subclasses do with a block whose use has ended.

  /**
   * Puts the block back where it is taken from. Called once per use, by the thread whose close or
   * free won. Delays every close: work that takes long belongs in {@link #settle}.
   *
   * @return whether {@link #settle} is to be called
   */
  protected abstract boolean onFreed();

  /** Does the work that {@link #onFreed} left, which it rarely does. */
  protected abstract void settle();

  /**
   * Tells, right before {@link #onFreed}, that the state became free by a release store: whatever
   * is read from now on may have been read before others can see it. After a compare-and-set it is
   * not.
   */
  protected void onFreedByStore() {}

  /** Tells that an observed use is over; as {@link #onFreed}, and before it. */
  protected void tellOfEnd() {}

  // Reading the state.

  /**
   * The stamp of the current use, or, while the block is not allocated, one that {@link
   * #isAllocated} denies.
   *
   * <p>Threading: any thread; true of the moment of the call.
   */
  public final long stamp() {
    return (long) STATE.getAcquire(this);
  }

  /** Whether a stamp is one of a use. Threading: any thread. */
  public static boolean isAllocated(long stamp) {
    return (stamp & ALLOCATED) != 0;
  }

  /** Whether a stamp says that the block is free. Threading: any thread. */
  public static boolean isFree(long stamp) {
    return (stamp & NOT_FREE) == 0;
  }

  /** Which use of its block a stamp is of, from 1; else how many are over. Threading: any. */
  public static long useOf(long stamp) {
    return (stamp >>> USE_SHIFT) + ((stamp & ALLOCATED) >>> 1);
  }

  /** Whether the block is allocated. Threading: any thread; true of the moment of the call. */
  public final boolean isLive() {
    return isAllocated(stamp());
  }

  public final boolean isLive(long stamp) {
    return stamp() == stamp;
  }

  /**
   * Whether the block is free. The actions of its last user happened before.
   *
   * <p>Threading: any thread; true of the moment of the call.
   */
  public final boolean isFree() {
    return isFree(stamp());
  }

  /** How often the block was given out. Threading: any thread. */
  public final long uses() {
    return useOf(stamp());
  }

  /** The free state with as many uses over. */
  private static long free(long state) {
    return state & ~NOT_FREE;
  }

  /** The stamp of the use that begins; the thread that begins it has the block alone. */
  private static long allocated(long state) {
    return (state & ~CLAIMED) | ALLOCATED;
  }

  /** Brings the state from one to another; false, and nothing has changed, if it is not the one. */
  private boolean change(long from, long to) {
    // HotSpot makes five instructions of the answer of compareAndSet, and two of this.
    return (long) STATE.compareAndExchange(this, from, to) == from;
  }

  private long publish(long stamp) {
    STATE.setRelease(this, stamp);
    return stamp;
  }

  // Claiming.

  /**
   * Claims the block, if it is free.
   *
   * <p>Threading: any thread; of several one wins, and has the block alone from then on.
   */
  public final boolean claim() {
    long seen = (long) STATE.getOpaque(this);
    return isFree(seen) && change(seen, seen + CLAIMED);
  }

  /**
   * Undoes a claim, without {@link #onFreed}.
   *
   * <p>Threading: the thread that claimed the block.
   */
  public final void giveUp() {
    // Release: what this thread saw of the block is acquired by the next claim.
    STATE.setRelease(this, free(state));
  }

  /**
   * Ends the current use, if there is one, and leaves the block claimed for good: for an allocator
   * that is closed by force. Handles on it are closed from then on.
   *
   * <p>Threading: any thread.
   *
   * @return whether there was a use to end
   */
  public final boolean revoke() {
    long stamp = stamp();
    return isAllocated(stamp) && change(stamp, (useOf(stamp) << USE_SHIFT) | REVOKED);
  }

  /**
   * Asks for {@link #tellOfEnd} at the end of the use that is about to begin. Threading: the thread
   * that claimed the block, before the use begins.
   */
  public final void observe() {
    state |= OBSERVED;
  }

  // Where the block lies.

  /**
   * Gives the block its memory, or takes it away. A block without memory must stay claimed.
   *
   * <p>Threading: the thread that claimed the block.
   *
   * @param whole in which it lies from now on, at the same offset; null for no memory
   */
  protected final void attach(MemoryRegion whole) {
    region = whole;
    view = whole == null ? NO_MEMORY : slice(whole, offset, capacityBytes);
    startAddress = 0;
  }

  /**
   * Moves the block to another place. Threading: the thread that has it alone, while it is free.
   *
   * @param start {@link #startAddress}, 0 if addresses were not asked for yet
   */
  final void place(MemoryRegion newRegion, int newOffset, int newCapacity, long start) {
    // Whatever the last use was like, the next one is not: it must prepare the view.
    extent = -1;
    startAddress = start;
    if (region == newRegion && offset == newOffset && capacityBytes == newCapacity) {
      return;
    }
    region = newRegion;
    offset = newOffset;
    capacityBytes = newCapacity;
    view = isolation == null ? null : slice(newRegion, newOffset, newCapacity);
  }

  /**
   * Whether the block has memory. Threading: exact for the thread that claimed the block, else a
   * guess.
   */
  public final boolean hasMemory() {
    return region != null;
  }

  /** The region of the block, or null if it has no memory. Threading: any thread. */
  public final MemoryRegion region() {
    return region;
  }

  /** Offset of the block's first byte in its region. Threading: any thread. */
  public final int offset() {
    return offset;
  }

  /**
   * How many bytes the block has, of a large one those that its buffer shows. Threading: any
   * thread.
   */
  public final int capacityBytes() {
    return capacityBytes;
  }

  /** How many bytes the block has, whatever its size. Threading: any thread. */
  public long reservedBytes() {
    return capacityBytes;
  }

  /**
   * Address of the block's first byte, or 0 if it has no memory; found out at the first call, for
   * it may cost a native call.
   *
   * <p>Threading: any thread.
   *
   * @throws IllegalStateException if this JVM cannot tell addresses
   */
  public final long startAddress() {
    long start = startAddress;
    return start != 0 ? start : findStartAddress();
  }

  private long findStartAddress() {
    MemoryRegion whole = region;
    if (whole == null) {
      return 0;
    }
    long start = whole.address() + offset;
    startAddress = start;
    return start;
  }

  // The size of a use.

  /**
   * The extent of a use as one number: its bytes and, above those 32 bits, those of its header. A
   * use by a handle has no header. Threading: any thread.
   */
  public static long extentOf(int bytes, int headerBytes) {
    return bytes | (long) headerBytes << Integer.SIZE;
  }

  /** {@link #extentOf} the current or last use. Threading: as {@link #sizeBytes}. */
  public final long extent() {
    return extent;
  }

  /**
   * Requested bytes of the current or last use. Threading: exact for the holder of the use, else a
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
   * Requested bytes if the block is allocated, else 0; of one moment.
   *
   * <p>Threading: any thread.
   */
  public final long bytesInUse() {
    while (true) {
      long stamp = stamp();
      if (!isAllocated(stamp)) {
        return 0;
      }
      long bytes = bytesIn(stamp);
      if (bytes >= 0) {
        return bytes;
      }
    }
  }

  /**
   * Requested bytes of the use with this stamp, or −1 if that is not the current one. If it is,
   * what the caller read of the block since it asked for the stamp was of that use too.
   *
   * <p>Threading: any thread.
   *
   * @param stamp what {@link #stamp} said
   */
  public final long bytesIn(long stamp) {
    int bytes = sizeBytes();
    VarHandle.acquireFence();
    return isAllocated(stamp) && (long) STATE.getOpaque(this) == stamp ? bytes : -1;
  }

  /** The most requested bytes of any use. Threading: any thread, within a use or so. */
  public final int largestBytes() {
    return uses() > usesCleared ? Math.max(largestBefore, sizeBytes()) : largestBefore;
  }

  /**
   * Resets {@link #largestBytes}, from the next use on.
   *
   * <p>Threading: any thread; a use that begins at the same moment may be forgotten.
   */
  public final void clearLargest() {
    usesCleared = uses();
    largestBefore = 0;
  }

  // How a use begins. Sizes and view are often those of the use before. If they are not, the work
  // is done by a call (see NoInline).

  /**
   * Claims the block and begins a use, as {@link #claim()} and {@link #begin} do. Not of a block
   * that is isolated or confined.
   *
   * <p>Threading: as {@link #claim()}.
   *
   * @param bytes as in {@link #open}
   * @return the stamp of the use; 0, and nothing has changed, if the block was not free
   */
  public final long claimAndBegin(long bytes) {
    long seen = stamp();
    return isAsFor(bytes) ? reopen(seen) : claimAndPrepare((int) bytes, NoInline.DEPTH);
  }

  /** Begins a use that is like the one before, if the block is still in a state that was seen. */
  private long reopen(long seen) {
    // If the state is still the one that was read, no thread has had the block since, so size and
    // view are what they were when they were read after the state.
    long stamp = seen + ALLOCATED;
    return isFree(seen) && change(seen, stamp) ? stamp : 0;
  }

  private long claimAndPrepare(int bytes, int depth) {
    if (depth > 0) {
      return claimAndPrepare(bytes, depth - 1);
    }
    if (!claim()) {
      return 0;
    }
    beginOrAbandon(bytes);
    return state;
  }

  /**
   * Starts a use through a handle; the handle is for {@link #handle}.
   *
   * <p>Threading: the thread that claimed the block.
   *
   * @param bytes how many bytes the user asked for, at most {@link #capacityBytes}
   * @return the stamp of the use
   */
  public final long begin(int bytes) {
    long stamp = nextStamp(bytes);
    if (!isAsFor(bytes)) {
      prepare(bytes, NoInline.DEPTH);
    }
    return publish(stamp);
  }

  private static int seen(long bytes) {
    return (int) Math.min(bytes, MOST_SEEN_BYTES);
  }

  /**
   * {@link #begin}; if that fails the block is freed; a cause is that there is no heap for its
   * view.
   *
   * <p>Threading: as {@link #begin}.
   *
   * @param bytes as in {@link #begin}
   */
  public final void beginOrAbandon(long bytes) {
    try {
      begin(seen(bytes));
    } catch (Throwable failure) {
      abandonAfter(failure, bytes);
      throw failure;
    }
  }

  /**
   * Starts a use through a raw address.
   *
   * <p>Threading: the thread that claimed the block.
   *
   * @param bytes how many bytes the user asked for; with the header at most {@link #capacityBytes}
   * @param headerBytes distance from the block's first byte to the user's
   * @return the stamp of the use
   */
  public final long openRaw(long bytes, int headerBytes) {
    // The byte buffer stays as it is: users of an address do not see it.
    int size = seen(bytes);
    long stamp = nextStamp(headerBytes + size);
    long wanted = extentOf(size, headerBytes);
    if (extent != wanted) {
      resize(wanted, NoInline.DEPTH);
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
    long free = state;
    if (isConfined(free)) {
      if (extent != bytes) {
        resize(bytes, NoInline.DEPTH);
      }
      publish(allocated(free));
    } else {
      openRaw(bytes, 0);
    }
    return start;
  }

  private static boolean isConfined(long state) {
    return (state & CONFINED) != 0;
  }

  /** The stamp of the use that begins, and isolated if it must be. */
  private long nextStamp(int end) {
    return isolation == null ? allocated(state) : isolate(end);
  }

  private long isolate(int end) {
    isolation.begin(view, end);
    return allocated(state) | ISOLATED;
  }

  private boolean isAsFor(long bytes) {
    return extent == bytes && isViewOf((int) bytes);
  }

  /** Whether the byte buffer is as a use of so many bytes finds it. */
  private boolean isViewOf(int bytes) {
    ByteBuffer buffer = view;
    return (buffer.position() | (buffer.limit() ^ bytes)) == 0
        && buffer.order() == ByteOrder.nativeOrder();
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

  // Written only if it must be: the collector may put the views of two blocks side by side, and
  // then two threads that use them would write to one cache line. The limit is often not what the
  // last use left; the rest always is, if no user changed it.
  private void adjustView(int bytes) {
    if (view == null) {
      // For a region with one user: no other user changes the limit of its buffer.
      view = region.buffer().slice(offset, capacityBytes).order(ByteOrder.nativeOrder());
    }
    ByteBuffer buffer = view;
    if (buffer.position() != 0 || buffer.order() != ByteOrder.nativeOrder()) {
      buffer.clear().order(ByteOrder.nativeOrder());
    }
    if (buffer.limit() != bytes) {
      buffer.limit(bytes);
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

  /**
   * Starts a use through a handle. If that fails the block is freed.
   *
   * <p>Threading: the thread that claimed the block.
   *
   * @param bytes how many bytes the user asked for, at most {@link #capacityBytes}
   */
  public final Allocation open(long bytes) {
    beginOrAbandon(bytes);
    return handle(bytes);
  }

  /**
   * The handle of the use that has begun.
   *
   * <p>Threading: the thread that began it, before another thread may end it.
   *
   * @param bytes as in {@link #open}, and of the use
   */
  public final Allocation handle(long bytes) {
    // The stamp is read again. A caller that gets it from begin() would have to keep it where two
    // paths join, one of which makes a call; the JIT then keeps it on the stack and not in a
    // register.
    try {
      return HANDLES.handle(this, state, bytes);
    } catch (Throwable noHeap) {
      abandonAfter(noHeap, bytes);
      throw noHeap;
    }
  }

  /**
   * Frees a claimed block that is not handed out after a failure, as the close of its use would.
   *
   * <p>Threading: the thread that claimed the block.
   *
   * @param bytes how many bytes the user asked for
   * @param headerBytes distance from the block's first byte to the user's
   */
  public final void abandon(long bytes, int headerBytes) {
    if (!isAllocated(state)) {
      // Without isolation: no user has written to it.
      extent = extentOf(seen(bytes), headerBytes);
      publish(allocated(state));
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

  // How a use ends. Each check that never failed is fifty bytes of machine code in the path of
  // every handle (see NoInline), so the first one is the one that most uses need.

  /** Ends the use with this stamp; false, and nothing has changed, if it is not the current one. */
  private boolean end(long stamp) {
    return (stamp & UNUSUAL) == 0 ? endPlain(stamp) : endUnusual(stamp);
  }

  private boolean endPlain(long stamp) {
    if (!change(stamp, stamp + TO_FREE)) {
      return false;
    }
    recycle();
    return true;
  }

  private void recycle() {
    if (onFreed()) {
      settleNoInline(NoInline.DEPTH);
    }
  }

  private void settleNoInline(int depth) {
    if (depth > 0) {
      settleNoInline(depth - 1);
    } else {
      settle();
    }
  }

  /** For callers that would have too much code with it: see {@link NoInline}. */
  private void recycleNoInline(int depth) {
    if (depth > 0) {
      recycleNoInline(depth - 1);
    } else {
      recycle();
    }
  }

  private boolean endUnusual(long stamp) {
    return isConfined(stamp) ? endConfined(stamp) : endOver(stamp);
  }

  private boolean endConfined(long stamp) {
    return owner.isMine() ? endAsOwner(stamp) : change(stamp, stamp + TO_FREE);
  }

  /** Without a compare-and-set: until this thread opens it again, the state is free or a stamp. */
  private boolean endAsOwner(long stamp) {
    if ((long) STATE.getOpaque(this) != stamp) {
      return false;
    }
    STATE.setRelease(this, stamp + TO_FREE);
    return true;
  }

  /** Ends a use after which the closer has work to do before the block is free. */
  private boolean endOver(long stamp) {
    if (!isAllocated(stamp)) {
      // The use was revoked before its handle was made.
      return false;
    }
    return (stamp & ISOLATED) == 0 ? endObserved(stamp) : endIsolated(stamp, NoInline.DEPTH);
  }

  /** From over to free. */
  private void finishFree() {
    // Release: what this thread saw of the block is acquired by the next claim.
    STATE.setRelease(this, free(state));
    onFreedByStore();
  }

  /** Not out of line: it is short, and a call would be a tenth of what a recorded pair costs. */
  private boolean endObserved(long stamp) {
    if (!change(stamp, stamp + TO_FREE)) {
      return false;
    }
    finishObserved();
    return true;
  }

  private void finishObserved() {
    tellOfEnd();
    finishFree();
    recycleNoInline(NoInline.DEPTH);
  }

  private boolean endIsolated(long stamp, int depth) {
    if (depth > 0) {
      return endIsolated(stamp, depth - 1);
    }
    if (!change(stamp, stamp + TO_FREE)) {
      return false;
    }
    finishIsolated(stamp);
    return true;
  }

  private void finishIsolated(long stamp) {
    int bytes = sizeBytes();
    int end = headerBytes() + bytes;
    int overwritten = -1;
    try {
      overwritten = isolation.end(view, end);
    } finally {
      if ((stamp & OBSERVED) != 0) {
        tellOfEnd();
      }
      finishFree();
      recycle();
    }
    if (overwritten >= 0) {
      throw overrun(bytes, overwritten - end);
    }
  }

  /**
   * Ends a use that came through a raw address.
   *
   * <p>Threading: any thread; of several one wins.
   *
   * @return false, and nothing has changed, if the block was not allocated
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
   *     block may have been freed and allocated again since, and its current use may have another
   *     owner
   * @return false, and nothing has changed, if it was not the stamp of the current use
   */
  public final boolean closeRaw(long stamp) {
    return isAllocated(stamp) && end(stamp);
  }

  /**
   * Wins the end of the use with this stamp, as {@link #closeRaw(long)} does, and leaves the block
   * with the caller, who alone may read its memory then. The caller calls {@link #finishEnd} or
   * {@link #undoEnd}. Not of a confined block, nor of one that other threads find while it is free.
   *
   * <p>Threading: any thread; of several one wins.
   *
   * @return false, and nothing has changed, if it was not the stamp of the current use
   */
  public final boolean beginEnd(long stamp) {
    // Neither free nor allocated, as the stamp of an unusual use is by itself.
    long over = stamp + TO_FREE + ((stamp & UNUSUAL) == 0 ? CLAIMED : 0);
    return isAllocated(stamp) && change(stamp, over);
  }

  /** The use goes on after {@link #beginEnd}. Threading: the thread that won. */
  public final void undoEnd(long stamp) {
    publish(stamp);
  }

  /** Ends the use after {@link #beginEnd}. Threading: the thread that won. */
  public final void finishEnd(long stamp) {
    if ((stamp & ISOLATED) != 0) {
      finishIsolated(stamp);
    } else if ((stamp & OBSERVED) != 0) {
      finishObserved();
    } else {
      finishFree();
      recycle();
    }
  }

  /**
   * Ends the use of a confined block, whose own thread knows that it is.
   *
   * <p>Threading: the owner.
   *
   * @param address that was given out
   * @return false, and nothing has changed, if the block is not allocated, begins at another
   *     address or is not confined
   */
  public final boolean closeAsOwner(long address) {
    long stamp = state;
    if (startAddress != address || (stamp & (CONFINED | ALLOCATED)) != (CONFINED | ALLOCATED)) {
      return false;
    }
    STATE.setRelease(this, stamp + TO_FREE);
    return true;
  }

  // For handles.

  public final void close(long stamp, long bytes) {
    if (!end(stamp)) {
      throw closed(bytes);
    }
  }

  public final long address(long stamp, long bytes) {
    checkLive(stamp, bytes);
    return region.address() + offset;
  }

  public final ByteBuffer byteBuffer(long stamp, long bytes) {
    checkSeen(stamp, bytes);
    return view;
  }

  public final UnsafeBuffer unsafeBuffer(long stamp, long bytes) {
    checkSeen(stamp, bytes);
    UnsafeBuffer buffer = (UnsafeBuffer) UNSAFE_VIEW.getAcquire(this);
    if (buffer == null || (long) UNSAFE_VIEW_STAMP.getAcquire(this) != stamp) {
      return adjustUnsafeView(buffer, stamp, (int) bytes);
    }
    return buffer;
  }

  private UnsafeBuffer adjustUnsafeView(UnsafeBuffer existing, long stamp, int bytes) {
    UnsafeBuffer buffer = existing != null ? existing : newUnsafeView(NoInline.DEPTH);
    wrap(buffer, region.address() + offset, bytes);
    UNSAFE_VIEW_STAMP.setRelease(this, stamp);
    return buffer;
  }

  /** Written only if it must be, as the byte buffer. */
  private static void wrap(UnsafeBuffer buffer, long address, int bytes) {
    if (buffer.addressOffset() != address
        || buffer.capacity() != bytes
        || buffer.byteArray() != null
        || buffer.byteBuffer() != null) {
      buffer.wrap(address, bytes);
    }
  }

  /** Out of line, for it is what warm-up does at every look: see {@link NoInline}. */
  private UnsafeBuffer newUnsafeView(int depth) {
    if (depth > 0) {
      return newUnsafeView(depth - 1);
    }
    AgronaAccess.require();
    UnsafeBuffer buffer = new UnsafeBuffer(0, 0);
    UnsafeBuffer other = (UnsafeBuffer) UNSAFE_VIEW.compareAndExchange(this, null, buffer);
    return other == null ? buffer : other;
  }

  private void checkLive(long stamp, long bytes) {
    if ((long) STATE.getAcquire(this) != stamp) {
      throw closed(bytes);
    }
  }

  /** Two questions in one, for the answer is nearly always the same. */
  private void checkSeen(long stamp, long bytes) {
    if ((((long) STATE.getAcquire(this) ^ stamp) | (bytes >>> (Integer.SIZE - 1))) != 0) {
      checkLive(stamp, bytes);
      throw new UnsupportedOperationException(
          "allocation of "
              + bytes
              + " bytes is more than the "
              + MOST_SEEN_BYTES
              + " that one buffer can show; address() reaches all of it");
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
