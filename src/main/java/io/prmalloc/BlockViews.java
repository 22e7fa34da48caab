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

  // The views are made once per block and adjusted at the first call of each use: no garbage. The
  // byte buffer is made with the block, for to make it at the first look would be a call in the
  // middle of a user's try that may fail, and its handler would put the handle on the heap (see
  // OutOfLine). The stamp for which a view was adjusted is written with release and read with
  // acquire, so that a second thread that sees the stamp sees the limit too: a buffer's fields are
  // neither final nor volatile.

  private static final VarHandle VIEW_STAMP;
  private static final VarHandle UNSAFE_VIEW;
  private static final VarHandle UNSAFE_VIEW_STAMP;

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      VIEW_STAMP = lookup.findVarHandle(BlockViews.class, "viewStamp", long.class);
      UNSAFE_VIEW_STAMP = lookup.findVarHandle(BlockViews.class, "unsafeViewStamp", long.class);
      UNSAFE_VIEW = lookup.findVarHandle(BlockViews.class, "unsafeView", UnsafeBuffer.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
    letViewsBeInlined();
  }

  /**
   * Java 17 calls a method for each access to a byte buffer whose result has this class, and its
   * JIT inlines no such call while the class is not loaded. Often nothing else loads it, and then
   * it depends on the moment of compilation whether a user's try has a call in it (see OutOfLine).
   */
  private static void letViewsBeInlined() {
    try {
      Class.forName("jdk.internal.misc.ScopedMemoryAccess$Scope", false, null);
    } catch (ClassNotFoundException e) {
      // A later Java, which has loaded what it uses there before any program begins.
    }
  }

  final MemoryRegion region;
  final int offset;
  final int capacityBytes;

  /** All of the block; its limit is that of the current or last use. */
  final ByteBuffer view;

  @SuppressWarnings("UnusedVariable") // through VIEW_STAMP
  private long viewStamp;

  @SuppressWarnings("UnusedVariable") // through UNSAFE_VIEW
  private UnsafeBuffer unsafeView;

  @SuppressWarnings("UnusedVariable") // through UNSAFE_VIEW_STAMP
  private long unsafeViewStamp;

  /** A part of a region. */
  BlockViews(MemoryRegion region, int offset, int capacityBytes, long firstState) {
    super(firstState);
    this.region = region;
    this.offset = offset;
    this.capacityBytes = capacityBytes;
    this.view = region.buffer().slice(offset, capacityBytes).order(ByteOrder.nativeOrder());
  }

  /** All of a region, and the only user of its buffer. */
  BlockViews(MemoryRegion region) {
    super(BlockState.first(false));
    this.region = region;
    this.offset = 0;
    this.capacityBytes = Math.toIntExact(region.sizeBytes());
    this.view = region.buffer();
  }

  /** The byte buffer for the use with this stamp, which is the current one. */
  final ByteBuffer byteBufferOf(long stamp, int bytes) {
    ByteBuffer buffer = view;
    if ((long) VIEW_STAMP.getAcquire(this) != stamp) {
      adjustView(buffer, bytes);
      VIEW_STAMP.setRelease(this, stamp);
    }
    return buffer;
  }

  // Written only if it must be: the collector may put the views of two blocks side by side, and
  // then two threads that use them would write to one cache line. The limit is often not what the
  // last use left; the rest always is, if no user changed it.
  private static void adjustView(ByteBuffer buffer, int bytes) {
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
