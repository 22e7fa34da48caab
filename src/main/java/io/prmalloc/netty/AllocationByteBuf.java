package io.prmalloc.netty;

import io.netty.buffer.AbstractReferenceCountedByteBuf;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.util.IllegalReferenceCountException;
import io.prmalloc.Allocation;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.channels.GatheringByteChannel;
import java.nio.channels.ScatteringByteChannel;

/**
 * One of Netty's buffers whose bytes are an {@link Allocation}.
 *
 * <p>Threading: as Netty's buffers: absolute reads by any thread, all else by one at a time.
 */
final class AllocationByteBuf extends AbstractReferenceCountedByteBuf {
  // Netty has a class that is nearly this, UnpooledDirectByteBuf, whose memory a subclass can
  // provide; but how differs between 4.1 and 4.2, and its buffers end where their memory ends,
  // which for a block of a pool is not where the request ended. So the few primitives are written
  // out here, over the view that the block has anyway: a buffer costs this object and nothing else.
  //
  // Every access through Netty's public methods is checked there (bounds, reference count); what
  // is checked here is what Netty leaves to its buffers. The view's limit is the capacity, so
  // whatever slips through (checks can be switched off) still stays within the block. Bulk copies
  // are absolute, so no position of the view ever moves, and readers need no duplicate.
  //
  // Netty's buffers are for one thread at a time, but a program may be wrong, as with a last
  // release that races with a write. It gets an exception then, and the pool gets its memory back
  // all the same: whoever replaces the allocation, by one atomic step, has the old one to give
  // back. An access that was checked just before the release may still reach the block, as it may
  // with Netty's own buffers: to look again after each read would cost more than the read.

  private static final int CHUNK_BYTES = 8 << 10;

  private static final VarHandle ALLOCATION;

  static {
    try {
      ALLOCATION =
          MethodHandles.lookup()
              .findVarHandle(AllocationByteBuf.class, "allocation", Allocation.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final PrmallocByteBufAllocator allocator;

  /** Null after the last release. Who replaces it gives the old one back. */
  private volatile Allocation allocation;

  private ByteBuffer view;
  private int capacity;

  /** What {@link #internalNioBuffer} shows; made when it is first asked for. */
  private ByteBuffer internal;

  AllocationByteBuf(PrmallocByteBufAllocator allocator, int initialCapacity, int maxCapacity) {
    super(maxCapacity);
    this.allocator = allocator;
    Allocation taken = allocator.take(initialCapacity);
    Allocation unused = taken;
    try {
      view = viewOf(taken);
      capacity = initialCapacity;
      allocation = taken;
      unused = null;
    } finally {
      giveBack(unused);
    }
  }

  private static ByteBuffer viewOf(Allocation taken) {
    return taken.byteBuffer().order(ByteOrder.BIG_ENDIAN);
  }

  private void giveBack(Allocation given) {
    if (given != null) {
      allocator.giveBack(given);
    }
  }

  /** The view, for one access. */
  private ByteBuffer present() {
    ByteBuffer present = view;
    if (present == null) {
      throw new IllegalReferenceCountException(0);
    }
    return present;
  }

  /** Null after the last release. */
  Allocation allocation() {
    return allocation;
  }

  @Override
  protected void deallocate() {
    Allocation given = (Allocation) ALLOCATION.getAndSet(this, null);
    view = null;
    internal = null;
    giveBack(given);
  }

  @Override
  public int capacity() {
    return capacity;
  }

  @Override
  public ByteBuf capacity(int newCapacity) {
    checkNewCapacity(newCapacity);
    if (newCapacity != capacity) {
      move(newCapacity);
    }
    return this;
  }

  /** Moves the bytes to other memory, unless the buffer is released meanwhile. */
  private void move(int newCapacity) {
    Allocation old = allocation;
    ByteBuffer from = view;
    Allocation taken = allocator.take(newCapacity);
    Allocation unused = taken;
    try {
      if (old == null || from == null) {
        throw new IllegalReferenceCountException(0);
      }
      ByteBuffer to = viewOf(taken);
      to.put(0, from, 0, Math.min(from.limit(), newCapacity));
      if (!ALLOCATION.compareAndSet(this, old, taken)) {
        throw new IllegalReferenceCountException(refCnt());
      }
      unused = old;
      if (newCapacity < capacity) {
        trimIndicesToCapacity(newCapacity);
      }
      view = to;
      capacity = newCapacity;
      internal = null;
      if (allocation != taken) {
        // Released since: nothing is to be read here any more.
        view = null;
      }
    } finally {
      giveBack(unused);
    }
  }

  @Override
  public ByteBufAllocator alloc() {
    return allocator;
  }

  @Override
  @SuppressWarnings("deprecation") // of Netty's own, abstract all the same
  public ByteOrder order() {
    return ByteOrder.BIG_ENDIAN;
  }

  @Override
  public ByteBuf unwrap() {
    return null;
  }

  @Override
  public boolean isDirect() {
    return true;
  }

  @Override
  public boolean isContiguous() {
    return true;
  }

  @Override
  public boolean hasArray() {
    return false;
  }

  @Override
  public byte[] array() {
    throw new UnsupportedOperationException("direct buffer");
  }

  @Override
  public int arrayOffset() {
    throw new UnsupportedOperationException("direct buffer");
  }

  @Override
  public boolean hasMemoryAddress() {
    return allocator.tellsAddresses(this);
  }

  @Override
  public long memoryAddress() {
    ensureAccessible();
    if (!hasMemoryAddress()) {
      throw new UnsupportedOperationException("this JVM does not tell addresses");
    }
    Allocation present = allocation;
    if (present == null) {
      throw new IllegalReferenceCountException(0);
    }
    return present.address();
  }

  @Override
  protected byte _getByte(int index) {
    return present().get(index);
  }

  @Override
  protected short _getShort(int index) {
    return present().getShort(index);
  }

  @Override
  protected short _getShortLE(int index) {
    return Short.reverseBytes(present().getShort(index));
  }

  @Override
  protected int _getUnsignedMedium(int index) {
    return ((present().get(index) & 0xFF) << 16) | (present().getShort(index + 1) & 0xFFFF);
  }

  @Override
  protected int _getUnsignedMediumLE(int index) {
    return (present().get(index) & 0xFF) | ((_getShortLE(index + 1) & 0xFFFF) << 8);
  }

  @Override
  protected int _getInt(int index) {
    return present().getInt(index);
  }

  @Override
  protected int _getIntLE(int index) {
    return Integer.reverseBytes(present().getInt(index));
  }

  @Override
  protected long _getLong(int index) {
    return present().getLong(index);
  }

  @Override
  protected long _getLongLE(int index) {
    return Long.reverseBytes(present().getLong(index));
  }

  @Override
  protected void _setByte(int index, int value) {
    present().put(index, (byte) value);
  }

  @Override
  protected void _setShort(int index, int value) {
    present().putShort(index, (short) value);
  }

  @Override
  protected void _setShortLE(int index, int value) {
    present().putShort(index, Short.reverseBytes((short) value));
  }

  @Override
  protected void _setMedium(int index, int value) {
    present().put(index, (byte) (value >>> 16)).putShort(index + 1, (short) value);
  }

  @Override
  protected void _setMediumLE(int index, int value) {
    present().put(index, (byte) value);
    _setShortLE(index + 1, value >>> 8);
  }

  @Override
  protected void _setInt(int index, int value) {
    present().putInt(index, value);
  }

  @Override
  protected void _setIntLE(int index, int value) {
    present().putInt(index, Integer.reverseBytes(value));
  }

  @Override
  protected void _setLong(int index, long value) {
    present().putLong(index, value);
  }

  @Override
  protected void _setLongLE(int index, long value) {
    present().putLong(index, Long.reverseBytes(value));
  }

  @Override
  public ByteBuf getBytes(int index, ByteBuf dst, int dstIndex, int length) {
    checkDstIndex(index, length, dstIndex, dst.capacity());
    if (dst.hasArray()) {
      present().get(index, dst.array(), dst.arrayOffset() + dstIndex, length);
    } else if (dst.nioBufferCount() > 0) {
      int from = index;
      for (ByteBuffer part : dst.nioBuffers(dstIndex, length)) {
        int bytes = part.remaining();
        getBytes(from, part);
        from += bytes;
      }
    } else {
      dst.setBytes(dstIndex, this, index, length);
    }
    return this;
  }

  @Override
  public ByteBuf getBytes(int index, byte[] dst, int dstIndex, int length) {
    checkDstIndex(index, length, dstIndex, dst.length);
    present().get(index, dst, dstIndex, length);
    return this;
  }

  @Override
  public ByteBuf getBytes(int index, ByteBuffer dst) {
    checkIndex(index, dst.remaining());
    dst.put(dst.position(), present(), index, dst.remaining());
    dst.position(dst.limit());
    return this;
  }

  @Override
  public ByteBuf getBytes(int index, OutputStream out, int length) throws IOException {
    checkIndex(index, length);
    byte[] chunk = new byte[Math.min(CHUNK_BYTES, length)];
    for (int done = 0; done < length; ) {
      int bytes = Math.min(chunk.length, length - done);
      present().get(index + done, chunk, 0, bytes);
      out.write(chunk, 0, bytes);
      done += bytes;
    }
    return this;
  }

  @Override
  public int getBytes(int index, GatheringByteChannel out, int length) throws IOException {
    return out.write(nioBuffer(index, length));
  }

  @Override
  public int getBytes(int index, FileChannel out, long position, int length) throws IOException {
    return out.write(nioBuffer(index, length), position);
  }

  @Override
  public ByteBuf setBytes(int index, ByteBuf src, int srcIndex, int length) {
    checkSrcIndex(index, length, srcIndex, src.capacity());
    if (src.hasArray()) {
      present().put(index, src.array(), src.arrayOffset() + srcIndex, length);
    } else if (src.nioBufferCount() > 0) {
      int to = index;
      for (ByteBuffer part : src.nioBuffers(srcIndex, length)) {
        int bytes = part.remaining();
        setBytes(to, part);
        to += bytes;
      }
    } else {
      src.getBytes(srcIndex, this, index, length);
    }
    return this;
  }

  @Override
  public ByteBuf setBytes(int index, byte[] src, int srcIndex, int length) {
    checkSrcIndex(index, length, srcIndex, src.length);
    present().put(index, src, srcIndex, length);
    return this;
  }

  @Override
  public ByteBuf setBytes(int index, ByteBuffer src) {
    checkIndex(index, src.remaining());
    present().put(index, src, src.position(), src.remaining());
    src.position(src.limit());
    return this;
  }

  @Override
  public int setBytes(int index, InputStream in, int length) throws IOException {
    checkIndex(index, length);
    // One read, of all that is asked for: a second one might wait although there is something.
    byte[] chunk = new byte[length];
    int bytes = in.read(chunk, 0, length);
    if (bytes > 0) {
      present().put(index, chunk, 0, bytes);
    }
    return bytes;
  }

  @Override
  public int setBytes(int index, ScatteringByteChannel in, int length) throws IOException {
    try {
      return in.read(internalNioBuffer(index, length));
    } catch (ClosedChannelException ended) {
      return -1;
    }
  }

  @Override
  public int setBytes(int index, FileChannel in, long position, int length) throws IOException {
    try {
      return in.read(internalNioBuffer(index, length), position);
    } catch (ClosedChannelException ended) {
      return -1;
    }
  }

  @Override
  public ByteBuf copy(int index, int length) {
    checkIndex(index, length);
    ByteBuf made = allocator.directBuffer(length, maxCapacity());
    try {
      made.writeBytes(this, index, length);
      return made;
    } catch (Throwable e) {
      made.release();
      throw e;
    }
  }

  @Override
  public int nioBufferCount() {
    return 1;
  }

  @Override
  public ByteBuffer nioBuffer(int index, int length) {
    checkIndex(index, length);
    return present().slice(index, length);
  }

  @Override
  public ByteBuffer[] nioBuffers(int index, int length) {
    return new ByteBuffer[] {nioBuffer(index, length)};
  }

  @Override
  public ByteBuffer internalNioBuffer(int index, int length) {
    checkIndex(index, length);
    if (internal == null) {
      internal = present().slice(0, capacity);
    }
    return internal.limit(index + length).position(index);
  }
}
