package io.prmalloc;

import io.prmalloc.os.MemoryRegion;
import java.util.OptionalLong;

/**
 * Where an allocator's memory comes from: few, large pieces, straight from the system.
 *
 * <p>Modelled on TensorFlow's {@code SubAllocator}; here a piece is a {@link MemoryRegion} and not
 * an address, because a direct byte buffer can be used, and given back, without anybody knowing its
 * address.
 *
 * <p>Threading: every method may be called from any thread.
 */
public interface SubAllocator {

  /**
   * Memory from direct byte buffers, the default kind: zeroed, needs no JVM flag, and is limited by
   * the JVM's {@code MaxDirectMemorySize} alone.
   *
   * <p>Room to align a region, at most its alignment − 1 bytes, is not counted as reserved.
   *
   * <p>Threading: any thread.
   */
  static SubAllocator direct() {
    return new DirectSubAllocator(LimitedSubAllocator.NO_LIMIT);
  }

  /**
   * As {@link #direct()}, with a limit of its own.
   *
   * <p>Threading: any thread.
   *
   * @param limitBytes the most bytes reserved at a time; 0 grants nothing
   * @throws IllegalArgumentException if {@code limitBytes} is negative
   */
  static SubAllocator direct(long limitBytes) {
    return new DirectSubAllocator(LimitedSubAllocator.checkLimit(limitBytes));
  }

  /**
   * Memory from anonymous private mappings of whole pages: not zeroed by us, outside {@code
   * MaxDirectMemorySize}, with huge pages and pre-touch on request. Regions are rounded up to whole
   * pages and counted so.
   *
   * <p>Its {@link #alloc} throws {@link UnsupportedOperationException} where native calls do not
   * work: they need 64-bit Linux and JNA.
   *
   * <p>Threading: any thread.
   */
  static SubAllocator mmap(MmapOptions options) {
    return new MmapSubAllocator(options);
  }

  /**
   * Whether its regions are in memory as a whole from the start, because whoever makes them writes
   * every page. What is not written costs memory only as it is used.
   *
   * <p>Threading: any thread; never changes.
   */
  default boolean isResident() {
    return false;
  }

  /**
   * Takes memory from the system. Whether it is zeroed depends on the kind.
   *
   * <p>Threading: any thread.
   *
   * @param alignment a power of two; the region's address is a multiple of it
   * @param bytes how many bytes, from 1 to {@link MemoryRegion#MAX_BYTES}
   * @return a region of at least {@code bytes} bytes
   * @throws IllegalArgumentException if an argument is out of its bounds
   * @throws OutOfNativeMemoryException if the system or this sub-allocator's limit does not grant
   *     it
   */
  MemoryRegion alloc(long alignment, long bytes);

  /**
   * Gives a region back to the system.
   *
   * <p>Threading: any thread, when nobody uses the region any more.
   *
   * @param region what {@link #alloc} of this sub-allocator returned
   * @throws IllegalArgumentException if the region is of another sub-allocator; nothing changes
   *     then
   * @throws IllegalStateException if the region was given back before, or if the system refuses to
   *     take it; nothing changes then
   */
  void free(MemoryRegion region);

  /**
   * Bytes taken from the system and not given back.
   *
   * <p>Threading: any thread.
   */
  long bytesReserved();

  /**
   * The most bytes this sub-allocator takes from the system at a time, empty if there is no limit
   * of its own.
   *
   * <p>Threading: any thread.
   */
  OptionalLong bytesLimit();
}
