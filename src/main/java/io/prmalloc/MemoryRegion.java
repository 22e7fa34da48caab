package io.prmalloc;

import java.nio.ByteBuffer;

/**
 * One contiguous stretch of off-heap memory that the system gave us and that goes back as a whole.
 *
 * <p>One {@link ByteBuffer} sees all of a region of at most 2 GiB − 1 bytes. A larger one is mapped
 * memory, reached by its address; its buffer shows the first 2 GiB − 1 bytes. Regions are never
 * empty.
 *
 * <p>Threading: every method may be called from any thread; {@link #free} must come last and only
 * once.
 */
public abstract class MemoryRegion {

  /** The most bytes that one buffer, and so a region seen through one, can have: 2 GiB − 1. */
  public static final long MAX_BYTES = Integer.MAX_VALUE;

  private final ByteBuffer buffer;
  private final long sizeBytes;

  /**
   * For the library's own kinds of region.
   *
   * <p>Threading: the maker publishes the region safely.
   *
   * @param buffer the region up to {@link #MAX_BYTES}, direct, in native byte order, from position
   *     0 to its limit
   * @param sizeBytes of the region
   */
  protected MemoryRegion(ByteBuffer buffer, long sizeBytes) {
    this.buffer = buffer;
    this.sizeBytes = sizeBytes;
  }

  /**
   * Size of the region in bytes, at least 1.
   *
   * <p>Threading: any thread.
   */
  public final long sizeBytes() {
    return sizeBytes;
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
   * The region, up to its first {@link #MAX_BYTES}, in native byte order. The same object every
   * time: use absolute access or slices of it, and leave its position, limit and order alone.
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
  public abstract long discard(long offset, long bytes);

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
  public abstract boolean populate();

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
  public abstract void free();

  /**
   * Whether the memory went back to the system.
   *
   * <p>Threading: any thread; true stays true.
   */
  public abstract boolean isFreed();

  @Override
  public String toString() {
    return getClass().getSimpleName()
        + "["
        + sizeBytes()
        + " bytes"
        + (isFreed() ? ", freed]" : "]");
  }
}
