package io.prmalloc.internal.os;

import io.prmalloc.MemoryRegion;
import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A region that the operating system, or the JVM, gave us.
 *
 * <p>Threading: as {@link MemoryRegion}.
 */
abstract class SystemRegion extends MemoryRegion {

  private static final long MAX_ALIGNMENT = 1 << 30;

  private final AtomicBoolean freed = new AtomicBoolean();

  SystemRegion(ByteBuffer buffer) {
    this(buffer, buffer.capacity());
  }

  SystemRegion(ByteBuffer buffer, long sizeBytes) {
    super(buffer, sizeBytes);
  }

  /** Of a region that one buffer sees. */
  static void checkArguments(long alignment, long bytes) {
    checkArguments(alignment, bytes, MAX_BYTES);
  }

  static void checkArguments(long alignment, long bytes, long mostBytes) {
    if (alignment < 1 || alignment > MAX_ALIGNMENT || Long.bitCount(alignment) != 1) {
      throw new IllegalArgumentException(
          "alignment " + alignment + " is not a power of two from 1 to " + MAX_ALIGNMENT);
    }
    if (bytes < 1 || bytes > mostBytes) {
      throw new IllegalArgumentException("bytes " + bytes + " is not from 1 to " + mostBytes);
    }
  }

  @Override
  public final long discard(long offset, long bytes) {
    return adviseWithin(offset, bytes, NativeCalls.MADV_DONTNEED, "DONTNEED");
  }

  @Override
  public final boolean populate() {
    return adviseWithin(0, sizeBytes(), NativeCalls.MADV_POPULATE_WRITE, "POPULATE_WRITE") >= 0;
  }

  /**
   * Returns the bytes of whole pages advised on, or −1 where the kernel does not know the advice.
   */
  private long adviseWithin(long offset, long bytes, int advice, String name) {
    Objects.checkFromIndexSize(offset, bytes, sizeBytes());
    if (isFreed()) {
      throw new IllegalStateException("region of " + sizeBytes() + " bytes was freed before");
    }
    long page = calls().pageSizeBytes();
    long from = roundUp(address() + offset, page);
    long to = (address() + offset + bytes) & -page;
    if (to <= from) {
      return 0;
    }
    int error = calls().madvise(from, to - from, advice);
    if (error == NativeCalls.EINVAL && advice == NativeCalls.MADV_POPULATE_WRITE) {
      return -1;
    }
    if (error != 0) {
      throw refused(calls(), "madvise " + name + " of " + (to - from) + " bytes", error);
    }
    return to - from;
  }

  static IllegalStateException refused(NativeCalls calls, String what, int error) {
    String message = what + ": " + calls.errorText(error);
    if (error == NativeCalls.ENOMEM || error == NativeCalls.EAGAIN) {
      throw new OutOfMemoryError(message);
    }
    return new IllegalStateException(message);
  }

  static long roundUp(long value, long powerOfTwo) {
    return (value + powerOfTwo - 1) & -powerOfTwo;
  }

  /** The native calls to make on this region. */
  NativeCalls calls() {
    return Natives.calls();
  }

  @Override
  public final void free() {
    if (!freed.compareAndSet(false, true)) {
      throw new IllegalStateException("region of " + sizeBytes() + " bytes was freed before");
    }
    try {
      release();
    } catch (Throwable e) {
      freed.set(false);
      throw e;
    }
  }

  @Override
  public final boolean isFreed() {
    return freed.get();
  }

  /** Hands the memory to the system. Called by one thread at a time, until it returns normally. */
  abstract void release();
}
