package io.prmalloc.os;

import java.nio.ByteBuffer;
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
