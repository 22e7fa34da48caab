package io.prmalloc.pool;

/**
 * One size class of the pool: its own buffer, and those it may borrow from.
 *
 * <p>DeepRec's {@code Bin}. Threading: any thread.
 */
final class Bin {

  private final int index;
  private final long chunkBytes;
  private final Buffer own;
  private final VirtualBuffer virtual;

  /**
   * @param own the bin's blocks, or null if it has none
   * @param virtual where it may borrow, or null if nowhere
   */
  Bin(int index, long chunkBytes, Buffer own, VirtualBuffer virtual) {
    this.index = index;
    this.chunkBytes = chunkBytes;
    this.own = own;
    this.virtual = virtual;
  }

  int index() {
    return index;
  }

  long chunkBytes() {
    return chunkBytes;
  }

  /** The bin's own blocks, or null. */
  Buffer own() {
    return own;
  }

  /** Takes a block from the own buffer, else from those it may borrow from, else gives null. */
  PooledBlock allocate(long alignment) {
    if (own != null) {
      PooledBlock block = own.allocate(alignment);
      if (block != null) {
        return block;
      }
    }
    return virtual == null ? null : virtual.allocate(alignment);
  }
}
