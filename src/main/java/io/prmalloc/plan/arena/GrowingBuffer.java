package io.prmalloc.plan.arena;

import io.prmalloc.MemoryRegion;
import io.prmalloc.OutOfNativeMemoryException;
import io.prmalloc.SubAllocator;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * One region of memory that is exchanged for a larger one, contents and all, when it gets too
 * small.
 *
 * <p>Threading: one thread at a time.
 */
final class GrowingBuffer {

  /** The largest, a page less than 2 GiB, because a source may round up to whole pages. */
  static final long MAX_BYTES = (1L << 31) - 4096;

  private final SubAllocator source;
  private final long alignment;
  private MemoryRegion region;
  private long bytes;

  GrowingBuffer(SubAllocator source, long alignment) {
    this.source = source;
    this.alignment = alignment;
  }

  /** What was last asked for, 0 if there is no memory. */
  long bytes() {
    return bytes;
  }

  long alignment() {
    return alignment;
  }

  /**
   * Sees to it that there are at least so many bytes, and never shrinks.
   *
   * @return whether the memory is another one now
   * @throws OutOfNativeMemoryException if the memory is not available; nothing changes then
   */
  boolean resize(long neededBytes) {
    if (neededBytes <= bytes) {
      return false;
    }
    if (neededBytes > MAX_BYTES || neededBytes + alignment - 1 > MemoryRegion.MAX_BYTES) {
      throw new OutOfNativeMemoryException(
          neededBytes,
          source.bytesReserved(),
          source.bytesLimit().orElse(-1),
          new IllegalArgumentException(
              neededBytes + " bytes aligned to " + alignment + " do not fit one buffer"));
    }
    MemoryRegion larger = source.alloc(alignment, neededBytes);
    try {
      if (region != null) {
        larger.buffer().put(0, region.buffer(), 0, (int) bytes);
        source.free(region);
      }
      region = larger;
      bytes = neededBytes;
      return true;
    } catch (Throwable e) {
      source.free(larger);
      throw e;
    }
  }

  /** A part in native byte order; the part lies inside. */
  ByteBuffer slice(long offset, long length) {
    return region.buffer().slice((int) offset, (int) length).order(ByteOrder.nativeOrder());
  }

  /** Address of the first byte; there is memory. */
  long address() {
    return region.address();
  }

  /** Gives the memory back, if there is any. */
  void release() {
    if (region != null) {
      source.free(region);
      region = null;
      bytes = 0;
    }
  }
}
