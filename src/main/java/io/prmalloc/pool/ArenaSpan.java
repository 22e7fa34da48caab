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
  private final PooledBlock[] blocks;
  private long startAddress;

  ArenaSpan(MemoryRegion region, int intervalBytes) {
    this.region = region;
    this.bytes = region.sizeBytes();
    this.shift = Integer.numberOfTrailingZeros(intervalBytes);
    int intervals = (int) ((region.sizeBytes() - 1) >>> shift) + 1;
    this.blocks = new PooledBlock[intervals];
  }

  /** Adds a block, if it lies in this region. */
  void add(PooledBlock block) {
    if (block.region() == region) {
      int from = block.offset() >>> shift;
      Arrays.fill(blocks, from, from + (block.capacityBytes() >>> shift), block);
    }
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

  /** The block that contains the offset, or null if there is none. */
  PooledBlock blockAt(long offset) {
    return blocks[(int) (offset >>> shift)];
  }
}
