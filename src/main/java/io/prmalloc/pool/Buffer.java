package io.prmalloc.pool;

import io.prmalloc.Block;

/**
 * The blocks of one bin: equal chunks of the arena, taken last in, first out, so that the one
 * handed out is the one that is most likely still in the cache.
 *
 * <p>DeepRec's {@code Buffer}. Threading: any thread.
 */
final class Buffer extends BlockStack {

  private final int bin;
  private final long strideBytes;

  /** For each block the uses that were over when the peak was cleared; null if it never was. */
  private volatile long[] usesBeforeClear;

  /**
   * @param bin index of the bin it belongs to
   * @param strideBytes the chunk size rounded up to the alignment
   * @param alignment of every chunk
   * @param places where the chunks lie, at least one and at most {@link IndexStack#MAX_CAPACITY}
   */
  Buffer(int bin, long strideBytes, int alignment, Arena.Place[] places, Arena arena) {
    super(places.length, alignment);
    this.bin = bin;
    this.strideBytes = strideBytes;
    // All at once, unlike a slab's: there are few, and raw addresses are looked up by block.
    for (int i = 0; i < places.length; i++) {
      blocks()[i] =
          new PooledBlock(
              arena.region(places[i].region()), places[i].offset(), strideBytes, this, i, bin);
    }
  }

  @Override
  PooledBlock create(int index) {
    throw new IllegalStateException("block " + index + " of bin " + bin + " was never made");
  }

  long strideBytes() {
    return strideBytes;
  }

  /**
   * A bound for the most blocks that were out at once since {@link #clearPeak}: those that were out
   * then or were taken since.
   */
  int peakBlocks() {
    long[] before = usesBeforeClear;
    int used = 0;
    for (int i = 0; i < blocks().length; i++) {
      used += blocks()[i].uses() > (before == null ? 0 : before[i]) ? 1 : 0;
    }
    return used;
  }

  /** Lets {@link #peakBlocks} and the blocks' largest uses begin anew. */
  void clearPeak() {
    long[] before = new long[blocks().length];
    for (int i = 0; i < before.length; i++) {
      long stamp = blocks()[i].stamp();
      before[i] = Block.useOf(stamp) - (Block.isOut(stamp) ? 1 : 0);
    }
    usesBeforeClear = before;
    clearLargest();
  }
}
