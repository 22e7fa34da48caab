package io.prmalloc.internal.arena;

import io.prmalloc.MemoryRegion;
import io.prmalloc.internal.freelist.PooledBlock;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/**
 * Finds the block at an address within a range of addresses. Chunks begin and end at multiples of
 * the policy's interval, so the interval an address lies in tells the block.
 *
 * <p>Threading: immutable.
 */
final class ArenaSpan {

  // An arena has few regions, and the system mostly puts them side by side. Regions that are near
  // each other share a span, the room between them included, so that finding a block is one
  // subtraction and one look into a table, however many regions there are.

  /** The most room between regions that is worth its part of the table. */
  private static final long MAX_GAP_BYTES = 64L << 20;

  private final long startAddress;
  private final long bytes;
  private final int shift;
  private final PooledBlock[] blocks;

  private ArenaSpan(long startAddress, long bytes, int intervalBytes) {
    this.startAddress = startAddress;
    this.bytes = bytes;
    this.shift = Integer.numberOfTrailingZeros(intervalBytes);
    this.blocks = new PooledBlock[(int) ((bytes - 1) >>> shift) + 1];
  }

  /**
   * Makes spans of regions; finding out their addresses may cost a native call.
   *
   * @param blocks those that lie in the regions
   * @param intervalBytes a power of two; every block's offset and capacity are multiples of it
   */
  static ArenaSpan[] over(List<MemoryRegion> regions, List<PooledBlock> blocks, int intervalBytes) {
    List<MemoryRegion> ascending = new ArrayList<>(regions);
    ascending.sort(Comparator.comparingLong(MemoryRegion::address));
    List<ArenaSpan> spans = new ArrayList<>();
    for (int i = 0; i < ascending.size(); ) {
      long start = ascending.get(i).address();
      long end = start + ascending.get(i++).sizeBytes();
      while (i < ascending.size() && joins(start, end, ascending.get(i), intervalBytes)) {
        end = ascending.get(i).address() + ascending.get(i++).sizeBytes();
      }
      spans.add(new ArenaSpan(start, end - start, intervalBytes));
    }
    for (PooledBlock block : blocks) {
      spans.forEach(span -> span.add(block));
    }
    return spans.toArray(new ArenaSpan[0]);
  }

  private static boolean joins(long start, long end, MemoryRegion next, int intervalBytes) {
    return next.address() - end <= MAX_GAP_BYTES
        && (next.address() - start & (intervalBytes - 1)) == 0;
  }

  private void add(PooledBlock block) {
    long offset = block.startAddress() - startAddress;
    if (offset >= 0 && offset < bytes) {
      int from = (int) (offset >>> shift);
      Arrays.fill(blocks, from, from + (block.capacityBytes() >>> shift), block);
    }
  }

  /** The block that contains the address, or null if there is none in this span. */
  PooledBlock find(long address) {
    long offset = address - startAddress;
    return offset >= 0 && offset < bytes ? blocks[(int) (offset >>> shift)] : null;
  }
}
