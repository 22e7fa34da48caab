package io.prmalloc.pool;

import java.util.List;

/**
 * The blocks of one bin: equal chunks of the arena, taken last in, first out, so that the one
 * handed out is the one that is most likely still in the cache.
 *
 * <p>DeepRec's {@code Buffer}. Threading: any thread.
 */
final class Buffer {

  private final IndexStack free;
  private final PooledBlock[] blocks;
  private final long alignment;

  /**
   * @param bin index of the bin it belongs to
   * @param strideBytes the chunk size rounded up to the alignment
   * @param alignment of every chunk
   * @param places where the chunks lie, at least one and at most {@link IndexStack#MAX_CAPACITY}
   */
  Buffer(int bin, long strideBytes, long alignment, List<Arena.Place> places, Arena arena) {
    this.alignment = alignment;
    this.free = new IndexStack(places.size());
    this.blocks = new PooledBlock[places.size()];
    for (int i = 0; i < blocks.length; i++) {
      Arena.Place place = places.get(i);
      blocks[i] =
          new PooledBlock(arena.region(place.region()), place.offset(), strideBytes, free, i, bin);
    }
  }

  /** Takes a block, or null if none is free or the alignment is more than the chunks have. */
  PooledBlock allocate(long wantedAlignment) {
    if (wantedAlignment > alignment) {
      return null;
    }
    int index = free.pop();
    return index < 0 ? null : blocks[index];
  }

  PooledBlock[] blocks() {
    return blocks;
  }

  int freeBlocks() {
    return free.size();
  }

  long alignment() {
    return alignment;
  }

  /** Closes the buffer if all its blocks are home. */
  boolean retire() {
    return free.retire();
  }

  void reopen() {
    free.reopen();
  }
}
