package io.prmalloc.pool;

/**
 * The blocks of one bin: equal chunks of the arena, taken last in, first out, so that the one
 * handed out is the one that is most likely still in the cache.
 *
 * <p>DeepRec's {@code Buffer}. Threading: any thread.
 */
final class Buffer extends BlockStack {

  private final int bin;
  private final long strideBytes;

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
}
