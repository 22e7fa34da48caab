package io.prmalloc.internal.os;

import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * One contiguous stretch of off-heap memory that the system gave us and that goes back as a whole.
 *
 * <p>A region is at most 2 GiB − 1 bytes, so that one {@link ByteBuffer} sees all of it. Regions
 * are never empty.
 *
 * <p>Threading: every method may be called from any thread; {@link #free} must come last and only
 * once.
 */
public abstract class MemoryRegion {

  /** The most bytes one region, and so one buffer, can have: 2 GiB − 1. */
  public static final long MAX_BYTES = Integer.MAX_VALUE;

  private static final long MAX_ALIGNMENT = 1 << 30;

  private final ByteBuffer buffer;
  private final AtomicBoolean freed = new AtomicBoolean();

  /**
   * For the kinds of region in this package.
   *
   * @param buffer the whole region, direct, in native byte order, from position 0 to its limit
   */
  MemoryRegion(ByteBuffer buffer) {
    this.buffer = buffer;
  }

  static void checkArguments(long alignment, long bytes) {
    if (alignment < 1 || alignment > MAX_ALIGNMENT || Long.bitCount(alignment) != 1) {
      throw new IllegalArgumentException(
          "alignment " + alignment + " is not a power of two from 1 to " + MAX_ALIGNMENT);
    }
    if (bytes < 1 || bytes > MAX_BYTES) {
      throw new IllegalArgumentException("bytes " + bytes + " is not from 1 to " + MAX_BYTES);
    }
  }

  /**
   * Size of the region in bytes, between 1 and {@link #MAX_BYTES}.
   *
   * <p>Threading: any thread.
   */
  public final long sizeBytes() {
    return buffer.capacity();
  }

  /**
   * Bytes that were really set aside: what the C library says ({@code malloc_usable_size}) of
   * memory that comes from a malloc, at least {@link #sizeBytes}; just that of everything else. May
   * cost a native call.
   *
   * <p>Threading: any thread, before {@link #free}.
   */
  public long usableBytes() {
    return sizeBytes();
  }

  /**
   * The whole region in native byte order. The same object every time: use absolute access or
   * slices of it, and leave its position, limit and order alone.
   *
   * <p>Threading: any thread, for absolute access and slices.
   */
  public final ByteBuffer buffer() {
    return buffer;
  }

  /**
   * Address of the first byte.
   *
   * <p>Threading: any thread.
   *
   * @throws IllegalStateException if neither the JVM flag that Agrona needs nor JNA is there to
   *     find the address out; the message holds the flag
   */
  public abstract long address();

  /**
   * Gives the memory behind a part of this region back to the system, and keeps the addresses: the
   * part reads as zero and costs memory again when next touched. Only pages that lie wholly within
   * the part go; the rest stays as it is.
   *
   * <p>Threading: any thread, when no other thread uses that part.
   *
   * @param offset of the part's first byte in this region, from 0
   * @param bytes of the part, from 0; it ends at the region's last byte or before
   * @return how many bytes were given back, 0 if the part holds no whole page
   * @throws IndexOutOfBoundsException if the part is not within the region
   * @throws IllegalStateException if the region was freed, or if the system refuses (of locked
   *     memory, say)
   * @throws UnsupportedOperationException if native calls do not work here; the message says why
   */
  public final long discard(long offset, long bytes) {
    return adviseWithin(offset, bytes, NativeCalls.MADV_DONTNEED, "DONTNEED");
  }

  /**
   * Makes sure that all whole pages of this region are in memory, so that no later access waits for
   * the system. What they hold does not change.
   *
   * <p>Threading: any thread, while others use the region.
   *
   * @return whether it was done; false where the platform does not know how to (Linux does from
   *     5.14 on)
   * @throws OutOfMemoryError if the system has no memory
   * @throws IllegalStateException if the region was freed, or if the system refuses for another
   *     reason
   * @throws UnsupportedOperationException if native calls do not work here; the message says why
   */
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

  /**
   * Gives the memory back to the system. Any later access through {@link #buffer} or {@link
   * #address} is undefined.
   *
   * <p>Threading: any thread, once, when no other thread uses the region any more; of two
   * concurrent calls one wins and the other throws.
   *
   * @throws IllegalStateException if the region was given back before (nothing happens then), or if
   *     the system refuses to take it (the region is as before then, and may be freed again)
   */
  public final void free() {
    if (!freed.compareAndSet(false, true)) {
      throw new IllegalStateException("region of " + sizeBytes() + " bytes was freed before");
    }
    boolean released = false;
    try {
      release();
      released = true;
    } finally {
      if (!released) {
        freed.set(false);
      }
    }
  }

  /**
   * Whether the memory went back to the system.
   *
   * <p>Threading: any thread; true stays true.
   */
  public final boolean isFreed() {
    return freed.get();
  }

  /** Hands the memory to the system. Called by one thread at a time, until it returns normally. */
  abstract void release();

  @Override
  public String toString() {
    return getClass().getSimpleName()
        + "["
        + sizeBytes()
        + " bytes"
        + (isFreed() ? ", freed]" : "]");
  }
}
