package io.prmalloc.pool;

import java.util.ArrayList;
import java.util.List;

/**
 * One size class of the pool: its own buffer, and those it may borrow from.
 *
 * <p>DeepRec's {@code Bin}. Threading: any thread.
 */
final class Bin {

  private final int index;
  private final long chunkBytes;
  private final Buffer own;
  private final Buffer[] buffers;

  /**
   * @param own the bin's blocks, or null if it has none
   * @param virtual where else it may borrow
   */
  Bin(int index, long chunkBytes, Buffer own, VirtualBuffer virtual) {
    this.index = index;
    this.chunkBytes = chunkBytes;
    this.own = own;
    List<Buffer> inOrder = new ArrayList<>();
    if (own != null) {
      inOrder.add(own);
    }
    inOrder.addAll(virtual.targets());
    this.buffers = inOrder.toArray(new Buffer[0]);
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

  /** Where an allocation looks, in this order: the own buffer, then those of the virtual one. */
  Buffer[] buffers() {
    return buffers;
  }
}
