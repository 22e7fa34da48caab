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
   * @throws IllegalStateException if the region was given back before
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
