package io.prmalloc.internal.block;

/**
 * Sums over blocks. The blocks count their own uses, so that an allocation updates no counter; a
 * sum is a walk over the blocks.
 *
 * <p>Threading: not safe.
 */
public final class PoolCounts {

  public long uses;
  public long liveBlocks;
  public long bytesInUse;
  public long largestBytes;

  /** A bound for the most bytes that were in use at once: it may lie above, never below. */
  public long peakBytes;

  public void add(Block block) {
    long stamp = block.stamp();
    while (Block.isAllocated(stamp)) {
      long bytes = block.bytesIn(stamp);
      if (bytes >= 0) {
        liveBlocks++;
        bytesInUse += bytes;
        break;
      }
      stamp = block.stamp();
    }
    uses += Block.useOf(stamp);
    largestBytes = Math.max(largestBytes, block.largestBytes());
  }

  /** Adds up uses of blocks that no longer exist. */
  public void addPast(PoolCounts gone) {
    uses += gone.uses;
    largestBytes = Math.max(largestBytes, gone.largestBytes);
  }
}
