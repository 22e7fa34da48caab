package io.prmalloc;

import io.prmalloc.os.AgronaAccess;
import io.prmalloc.os.MemoryRegion;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The memory of a {@link Block}, and the two buffers through which its users see it.
 *
 * <p>Threading: any thread, with the stamp of the current use.
 */
abstract class BlockViews extends BlockClaims {

  // The views are made once per block: no garbage. The byte buffer is made with the block, for to
  // make it at the first look would be a call in the middle of a user's try that may fail, and its
  // handler would put the handle on the heap (see OutOfLine). It is adjusted when a use through a
  // handle begins, before the state says so by a release store: whoever sees the handle's stamp in
  // the state sees the limit too, though a buffer's fields are neither final nor volatile. Agrona's
  // buffer, which most never ask for, is made and adjusted at the first look; the stamp for which
  // it was is written with release and read with acquire, to the same end.

  private static final VarHandle UNSAFE_VIEW;
  private static final VarHandle UNSAFE_VIEW_STAMP;

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      UNSAFE_VIEW_STAMP = lookup.findVarHandle(BlockViews.class, "unsafeViewStamp", long.class);
      UNSAFE_VIEW = lookup.findVarHandle(BlockViews.class, "unsafeView", UnsafeBuffer.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
    letViewsBeInlined();
  }

  /**
   * Each access to a byte buffer calls a method whose result has one of these classes, and the JIT
   * inlines no such call while the class is not loaded. Often nothing loads it but the JIT, when it
   * compiles that method itself; and then it depends on the moment of compilation whether a user's
   * try has a call in it (see OutOfLine).
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

  // Of a block that is placed once offset and capacity do not change; of one that is placed anew
  // for each use (see place) they change while it is at home, and are published with the use that
  // begins.

  /** Null while the block has no memory: see {@link #attach}. */
  MemoryRegion region;

  int offset;
  int capacityBytes;

  /**
   * All of the block; its limit is that of the current or last use. Null without memory, and of a
   * block that was placed anew and has not been used through a handle there.
   */
  ByteBuffer view;

  @SuppressWarnings("UnusedVariable") // through UNSAFE_VIEW
  private UnsafeBuffer unsafeView;

  @SuppressWarnings("UnusedVariable") // through UNSAFE_VIEW_STAMP
  private long unsafeViewStamp;

  /** A part of a region, or of none yet: then {@link #attach} says later which. */
  BlockViews(MemoryRegion region, int offset, int capacityBytes, long firstState) {
    super(firstState);
    this.offset = offset;
    this.capacityBytes = capacityBytes;
    this.region = region;
    this.view = region == null ? null : slice();
  }

  private ByteBuffer slice() {
    // The region's own buffer may be a view, too, that ends where its user's bytes do.
    ByteBuffer all = region.buffer().duplicate().clear();
    return all.slice(offset, capacityBytes).order(ByteOrder.nativeOrder());
  }

  /**
   * Gives the block its memory, or takes it away. A block without memory must stay claimed.
   *
   * <p>Threading: the thread that claimed the block.
   *
   * @param whole in which it lies from now on, at the same offset; null for no memory
   */
  protected final void attach(MemoryRegion whole) {
    region = whole;
    view = whole == null ? null : slice();
    startAddress = 0;
  }

  /** Whether the block has memory. Threading: exact for whoever claimed the block, else a guess. */
  public final boolean hasMemory() {
    return region != null;
  }

  /** All of a region, and the only user of its buffer. */
  BlockViews(MemoryRegion region) {
    super(BlockState.first(false));
    this.region = region;
    this.offset = 0;
    this.capacityBytes = Math.toIntExact(region.sizeBytes());
    this.view = region.buffer();
  }

  /** A block that lies nowhere yet. */
  BlockViews() {
    super(BlockState.first(false));
  }

  /**
   * Lets the block lie elsewhere. Threading: the thread that has it alone, while it is at home.
   *
   * @param start {@link #startAddress}, 0 if nobody has asked for addresses yet
   * @param isolated whether its memory is looked at when a use begins and ends
   */
  final void place(
      MemoryRegion newRegion, int newOffset, int newCapacity, long start, boolean isolated) {
    // Whatever the last use was like, the next one is not: it must prepare the view.
    extent = -1;
    startAddress = start;
    if (region == newRegion && offset == newOffset && capacityBytes == newCapacity) {
      return;
    }
    region = newRegion;
    offset = newOffset;
    capacityBytes = newCapacity;
    view = isolated ? slice() : null;
  }

  /** Where the block lies, or null if it has no memory. Threading: any thread. */
  public final MemoryRegion region() {
    return region;
  }

  /** Offset of the block's first byte in its region. Threading: any thread. */
  public final int offset() {
    return offset;
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

  /** How many bytes the block has. Threading: any thread. */
  public final int capacityBytes() {
    return capacityBytes;
  }

  /** Whether the byte buffer is as a use of so many bytes finds it. */
  final boolean isViewOf(int bytes) {
    ByteBuffer buffer = view;
    return (buffer.position() | (buffer.limit() ^ bytes)) == 0
        && buffer.order() == ByteOrder.nativeOrder();
  }

  // Written only if it must be: the collector may put the views of two blocks side by side, and
  // then two threads that use them would write to one cache line. The limit is often not what the
  // last use left; the rest always is, if no user changed it.
  final void adjustView(int bytes) {
    if (view == null) {
      // Of a region that is its owner's alone: nobody leaves a limit in its buffer.
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

  /** Agrona's buffer for the use with this stamp, which is the current one. */
  final UnsafeBuffer unsafeBufferOf(long stamp, int bytes) {
    UnsafeBuffer buffer = (UnsafeBuffer) UNSAFE_VIEW.getAcquire(this);
    if (buffer == null || (long) UNSAFE_VIEW_STAMP.getAcquire(this) != stamp) {
      return adjustUnsafeView(buffer, stamp, bytes);
    }
    return buffer;
  }

  private UnsafeBuffer adjustUnsafeView(UnsafeBuffer existing, long stamp, int bytes) {
    UnsafeBuffer buffer = existing != null ? existing : newUnsafeView(OutOfLine.DEPTH);
    wrap(buffer, region.address() + offset, bytes);
    UNSAFE_VIEW_STAMP.setRelease(this, stamp);
    return buffer;
  }

  /** Written only if it must be, as above. */
  private static void wrap(UnsafeBuffer buffer, long address, int bytes) {
    if (buffer.addressOffset() != address
        || buffer.capacity() != bytes
        || buffer.byteArray() != null
        || buffer.byteBuffer() != null) {
      buffer.wrap(address, bytes);
    }
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
}
