package io.prmalloc.pool;

import io.prmalloc.os.MemoryRegion;
import java.util.Arrays;

/**
 * Which block lies where in a region of the arena. Chunks begin and end at multiples of the
 * policy's interval, so the interval an address lies in tells the block.
 *
 * <p>Threading: immutable once filled.
 */
final class ArenaSpan {

  private final MemoryRegion region;
  private final long bytes;
  private final int shift;
  private final Buffer[] buffers;
  private final int[] blocks;
  private long startAddress;

  ArenaSpan(MemoryRegion region, int intervalBytes) {
    this.region = region;
    this.bytes = region.sizeBytes();
    this.shift = Integer.numberOfTrailingZeros(intervalBytes);
    int intervals = (int) ((region.sizeBytes() - 1) >>> shift) + 1;
    this.buffers = new Buffer[intervals];
    this.blocks = new int[intervals];
  }

  void add(Buffer buffer, int block) {
    int from = (int) (buffer.places().get(block).offset() >>> shift);
    int to = from + (int) (buffer.strideBytes() >>> shift);
    Arrays.fill(buffers, from, to, buffer);
    Arrays.fill(blocks, from, to, block);
  }

  /**
   * Address of the region's first byte; found out at the first call, for it may cost a native call.
   */
  long startAddress() {
    long start = startAddress;
    if (start == 0) {
      start = region.address();
      startAddress = start;
    }
    return start;
  }

  long bytes() {
    return bytes;
  }

  /** The block that contains the offset, or null if there is none or it was never taken. */
  PooledBlock blockAt(long offset) {
    int interval = (int) (offset >>> shift);
    Buffer buffer = buffers[interval];
    return buffer == null ? null : buffer.blocks()[blocks[interval]];
  }
}
