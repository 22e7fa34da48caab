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
  // back.
  //
  // A read that races with the last release finds no view, or one whose block may have become
  // somebody else's: with other bytes, another limit, another byte order. So what was read counts
  // only if the buffer still has the view afterwards: the view is dropped before the memory goes
  // back. The fence keeps the read before that look. It costs no instruction on x86, but the JIT
  // takes less out of loops: a nanosecond for each single read there, nothing for bulk copies. A
  // write is not looked at, since it cannot be undone.

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

  /** Null after the last release; dropped, or replaced, before the memory behind it goes back. */
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

  /** The view, for one access; a read is to end with {@link #checkStill}. */
  private ByteBuffer present() {
    ByteBuffer present = view;
    if (present == null) {
      throw new IllegalReferenceCountException(0);
    }
    return present;
  }

  /** After a read: whether the memory was this buffer's all the time. */
  @SuppressWarnings("ReferenceEquality") // whether it is the very same view
  private void checkStill(ByteBuffer accessed) {
    VarHandle.loadLoadFence();
    if (view != accessed) {
      throw new IllegalReferenceCountException(refCnt());
    }
  }

  /** After an access that its view refused: that of a block of somebody else has other bounds. */
  private IndexOutOfBoundsException refused(ByteBuffer accessed, IndexOutOfBoundsException e) {
    checkStill(accessed);
    return e;
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
      copy(from, to, Math.min(capacity, newCapacity));
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

  private void copy(ByteBuffer from, ByteBuffer to, int bytes) {
    try {
      to.put(0, from, 0, bytes);
    } catch (IndexOutOfBoundsException e) {
      throw refused(from, e);
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
    try {
      return present.address();
    } catch (IllegalStateException closed) {
      throw allocation == present ? closed : new IllegalReferenceCountException(0);
    }
  }

  @Override
  protected byte _getByte(int index) {
    ByteBuffer from = present();
    try {
      byte value = from.get(index);
      checkStill(from);
      return value;
    } catch (IndexOutOfBoundsException e) {
      throw refused(from, e);
    }
  }

  @Override
  protected short _getShort(int index) {
    ByteBuffer from = present();
    try {
      short value = from.getShort(index);
      checkStill(from);
      return value;
    } catch (IndexOutOfBoundsException e) {
      throw refused(from, e);
    }
  }

  @Override
  protected short _getShortLE(int index) {
    return Short.reverseBytes(_getShort(index));
  }

  @Override
  protected int _getUnsignedMedium(int index) {
    return ((_getByte(index) & 0xFF) << 16) | (_getShort(index + 1) & 0xFFFF);
  }

  @Override
  protected int _getUnsignedMediumLE(int index) {
    return (_getByte(index) & 0xFF) | ((_getShortLE(index + 1) & 0xFFFF) << 8);
  }

  @Override
  protected int _getInt(int index) {
    ByteBuffer from = present();
    try {
      int value = from.getInt(index);
      checkStill(from);
      return value;
    } catch (IndexOutOfBoundsException e) {
      throw refused(from, e);
    }
  }

  @Override
  protected int _getIntLE(int index) {
    return Integer.reverseBytes(_getInt(index));
  }

  @Override
  protected long _getLong(int index) {
    ByteBuffer from = present();
    try {
      long value = from.getLong(index);
      checkStill(from);
      return value;
    } catch (IndexOutOfBoundsException e) {
      throw refused(from, e);
    }
  }

  @Override
  protected long _getLongLE(int index) {
    return Long.reverseBytes(_getLong(index));
  }

  @Override
  protected void _setByte(int index, int value) {
    ByteBuffer to = present();
    try {
      to.put(index, (byte) value);
    } catch (IndexOutOfBoundsException e) {
      throw refused(to, e);
    }
  }

  @Override
  protected void _setShort(int index, int value) {
    ByteBuffer to = present();
    try {
      to.putShort(index, (short) value);
    } catch (IndexOutOfBoundsException e) {
      throw refused(to, e);
    }
  }

  @Override
  protected void _setShortLE(int index, int value) {
    _setShort(index, Short.reverseBytes((short) value));
  }

  @Override
  protected void _setMedium(int index, int value) {
    _setByte(index, value >>> 16);
    _setShort(index + 1, value);
  }

  @Override
  protected void _setMediumLE(int index, int value) {
    _setByte(index, value);
    _setShortLE(index + 1, value >>> 8);
  }

  @Override
  protected void _setInt(int index, int value) {
    ByteBuffer to = present();
    try {
      to.putInt(index, value);
    } catch (IndexOutOfBoundsException e) {
      throw refused(to, e);
    }
  }

  @Override
  protected void _setIntLE(int index, int value) {
    _setInt(index, Integer.reverseBytes(value));
  }

  @Override
  protected void _setLong(int index, long value) {
    ByteBuffer to = present();
    try {
      to.putLong(index, value);
    } catch (IndexOutOfBoundsException e) {
      throw refused(to, e);
    }
  }

  @Override
  protected void _setLongLE(int index, long value) {
    _setLong(index, Long.reverseBytes(value));
  }

  private void copyTo(int index, byte[] dst, int dstIndex, int length) {
    ByteBuffer from = present();
    try {
      from.get(index, dst, dstIndex, length);
      checkStill(from);
    } catch (IndexOutOfBoundsException e) {
      throw refused(from, e);
    }
  }

  private void copyFrom(int index, byte[] src, int srcIndex, int length) {
    ByteBuffer to = present();
    try {
      to.put(index, src, srcIndex, length);
    } catch (IndexOutOfBoundsException e) {
      throw refused(to, e);
    }
  }

  /** A part of the view, as long as it is this buffer's. */
  private ByteBuffer slice(ByteBuffer of, int index, int length) {
    try {
      ByteBuffer part = of.slice(index, length);
      checkStill(of);
      return part;
    } catch (IndexOutOfBoundsException e) {
      throw refused(of, e);
    }
  }

  @Override
  public ByteBuf getBytes(int index, ByteBuf dst, int dstIndex, int length) {
    checkDstIndex(index, length, dstIndex, dst.capacity());
    if (dst.hasArray()) {
      copyTo(index, dst.array(), dst.arrayOffset() + dstIndex, length);
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
    copyTo(index, dst, dstIndex, length);
    return this;
  }

  @Override
  public ByteBuf getBytes(int index, ByteBuffer dst) {
    checkIndex(index, dst.remaining());
    ByteBuffer from = present();
    try {
      dst.put(dst.position(), from, index, dst.remaining());
      checkStill(from);
    } catch (IndexOutOfBoundsException e) {
      throw refused(from, e);
    }
    dst.position(dst.limit());
    return this;
  }

  @Override
  public ByteBuf getBytes(int index, OutputStream out, int length) throws IOException {
    checkIndex(index, length);
    byte[] chunk = new byte[Math.min(CHUNK_BYTES, length)];
    for (int done = 0; done < length; ) {
      int bytes = Math.min(chunk.length, length - done);
      copyTo(index + done, chunk, 0, bytes);
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
      copyFrom(index, src.array(), src.arrayOffset() + srcIndex, length);
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
    copyFrom(index, src, srcIndex, length);
    return this;
  }

  @Override
  public ByteBuf setBytes(int index, ByteBuffer src) {
    checkIndex(index, src.remaining());
    ByteBuffer to = present();
    try {
      to.put(index, src, src.position(), src.remaining());
    } catch (IndexOutOfBoundsException e) {
      throw refused(to, e);
    }
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
      copyFrom(index, chunk, 0, bytes);
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
    ByteBuf unused = made;
    try {
      made.writeBytes(this, index, length);
      unused = null;
      return made;
    } finally {
      if (unused != null) {
        unused.release();
      }
    }
  }

  @Override
  public int nioBufferCount() {
    return 1;
  }

  @Override
  public ByteBuffer nioBuffer(int index, int length) {
    checkIndex(index, length);
    return slice(present(), index, length);
  }

  @Override
  public ByteBuffer[] nioBuffers(int index, int length) {
    return new ByteBuffer[] {nioBuffer(index, length)};
  }

  @Override
  public ByteBuffer internalNioBuffer(int index, int length) {
    checkIndex(index, length);
    ByteBuffer shown = internal;
    if (shown == null) {
      shown = slice(present(), 0, capacity);
      internal = shown;
    }
    return shown.limit(index + length).position(index);
  }
}
