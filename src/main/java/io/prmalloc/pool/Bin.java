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

  /** What it got later; see {@link Growth}. Replaced as a whole. */
  private volatile List<Buffer> grown = List.of();

  private volatile Buffer[] buffers;

  /** Plain: nearly right is enough. */
  private int misses;

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

  /** The blocks that the plan gives the bin, or null. */
  Buffer own() {
    return own;
  }

  /** All of the bin's own blocks: the plan's, then those it got later. */
  List<Buffer> allOwn() {
    List<Buffer> all = new ArrayList<>();
    if (own != null) {
      all.add(own);
    }
    all.addAll(grown);
    return all;
  }

  /** How many buffers it got later. */
  int grownBuffers() {
    return grown.size();
  }

  /** Adds blocks to a bin that has some. One thread at a time. */
  @SuppressWarnings("NonAtomicOperationOnVolatileField")
  void grow(Buffer more) {
    List<Buffer> allGrown = new ArrayList<>(grown);
    allGrown.add(more);
    List<Buffer> inOrder = new ArrayList<>(List.of(buffers));
    inOrder.add(allGrown.size(), more);
    grown = List.copyOf(allGrown);
    // Release: whoever sees the buffer here sees its blocks.
    buffers = inOrder.toArray(new Buffer[0]);
    misses = 0;
  }

  /** Counts a request that found nothing; how many it were since the bin grew, or nearly. */
  int missed() {
    return ++misses;
  }

  /** Where an allocation looks, in this order: the own buffers, then those of the virtual one. */
  Buffer[] buffers() {
    return buffers;
  }
}
