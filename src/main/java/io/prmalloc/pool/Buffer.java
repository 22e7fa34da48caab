package io.prmalloc.pool;

import java.util.List;

/**
 * The blocks of one bin: equal chunks of the arena, taken last in, first out, so that the one
 * handed out is the one that is most likely still in the cache.
 *
 * <p>DeepRec's {@code Buffer}. Threading: any thread.
 */
final class Buffer extends BlockStack {

  private final int bin;
  private final long strideBytes;
  private final List<Arena.Place> places;
  private final Arena arena;

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
    this.places = List.of(places);
    this.arena = arena;
  }

  @Override
  PooledBlock create(int index) {
    Arena.Place place = places.get(index);
    return new PooledBlock(
        arena.region(place.region()), place.offset(), strideBytes, this, index, bin);
  }

  long strideBytes() {
    return strideBytes;
  }

  List<Arena.Place> places() {
    return places;
  }
}
