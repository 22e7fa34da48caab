package io.prmalloc.internal.arena;

import java.util.List;
import java.util.stream.Stream;

/**
 * One size class of the pool: its own buffer, and those it may borrow from.
 *
 * <p>DeepRec's {@code Bin}. Threading: any thread.
 */
public final class Bin {

  private final int index;
  private final long chunkBytes;
  private final Buffer own;
  private final VirtualBuffer virtual;

  /** The plan's blocks, if any, then those it got later. Replaced as a whole. */
  private volatile List<Buffer> allOwn;

  /** Where an allocation looks. Replaced as a whole. */
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
    this.virtual = virtual;
    setOwn(own == null ? List.of() : List.of(own));
  }

  private void setOwn(List<Buffer> all) {
    // Both or neither: it takes heap, which may be exhausted.
    Buffer[] asked = Stream.concat(all.stream(), virtual.targets().stream()).toArray(Buffer[]::new);
    allOwn = all;
    // Release: a thread that reads a buffer here also sees its blocks.
    buffers = asked;
  }

  public int index() {
    return index;
  }

  public long chunkBytes() {
    return chunkBytes;
  }

  /** The blocks that the plan gives the bin, or null. */
  public Buffer own() {
    return own;
  }

  /** All of the bin's own blocks: the plan's, then those it got later. */
  public List<Buffer> allOwn() {
    return allOwn;
  }

  /** How many buffers it got later. */
  int grownBuffers() {
    return own == null ? 0 : allOwn.size() - 1;
  }

  /** Adds blocks to a bin that has some. One thread at a time. */
  void grow(Buffer more) {
    setOwn(Stream.concat(allOwn.stream(), Stream.of(more)).toList());
    misses = 0;
  }

  /** Counts a request that found nothing; how many it were since the bin grew, or nearly. */
  public int countMiss() {
    return ++misses;
  }

  /** Where an allocation looks, in this order: the own buffers, then those of the virtual one. */
  Buffer[] buffers() {
    return buffers;
  }
}
