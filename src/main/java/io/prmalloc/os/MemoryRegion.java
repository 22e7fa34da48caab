package io.prmalloc.os;

import java.nio.ByteBuffer;

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

  private final ByteBuffer buffer;

  /**
   * For the kinds of region in this package.
   *
   * @param buffer the whole region, direct, in native byte order, from position 0 to its limit
   */
  MemoryRegion(ByteBuffer buffer) {
    this.buffer = buffer;
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
   * <p>Threading: any thread, once, when no other thread uses the region any more.
   *
   * @throws IllegalStateException if the region was given back before
   */
  public abstract void free();
}
