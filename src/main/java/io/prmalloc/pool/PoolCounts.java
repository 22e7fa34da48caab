package io.prmalloc.pool;

/**
 * Sums over blocks. The blocks count their own uses, so that nothing is counted on the way of an
 * allocation; a sum is a walk.
 *
 * <p>Threading: not safe.
 */
final class PoolCounts {

  long uses;
  long liveBlocks;
  long bytesInUse;
  long largestBytes;

  /** A bound for the most bytes that were in use at once: it may lie above, never below. */
  long peakBytes;

  void add(PooledBlock block) {
    uses += block.uses();
    long bytes = block.bytesInUse();
    if (block.isLive()) {
      liveBlocks++;
    }
    bytesInUse += bytes;
    largestBytes = Math.max(largestBytes, block.largestBytes());
  }
}
