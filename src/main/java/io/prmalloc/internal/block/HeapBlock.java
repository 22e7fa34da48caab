package io.prmalloc.internal.block;

import io.prmalloc.Allocation;
import io.prmalloc.MemoryRegion;

/**
 * A block whose memory is managed by its owner: a region of its own, a second handle around a block
 * that another allocator gave out, or an extent of a heap, which places the block anew for each
 * use. For authors of allocators.
 *
 * <p>Threading: as {@link Block} says.
 */
public final class HeapBlock extends Block {

  // One class for all of these and no subclass for each, because Block.close calls onFreed for
  // every handle: the JIT inlines such a call for two classes, this one and the pool's, and not for
  // three. A server that tracks or logs now and then must not slow its pool down.

  /** Told of a block that was closed. */
  @FunctionalInterface
  public interface Owner {
    /**
     * The block is free; its memory is the owner's again.
     *
     * <p>Threading: the thread that closed the block.
     */
    void released(HeapBlock block);
  }

  private final Owner owner;
  private Object container;
  private Object ticket;

  // What the owner notes, under its lock: the lists of a RegionHeap, and the free blocks of the
  // live heap.
  public HeapBlock previous;
  public HeapBlock next;
  public long rawAddress;
  public long allocationId;

  /** Bytes asked for in the use of a block that is larger than one buffer; else 0. */
  private long largeBytes;

  /**
   * All of a region.
   *
   * @param ticket any object of the owner's
   */
  public HeapBlock(MemoryRegion region, BlockIsolation isolation, Owner owner, Object ticket) {
    super(region, isolation);
    this.owner = owner;
    this.ticket = ticket;
  }

  /**
   * A block that lies nowhere yet.
   *
   * <p>Threading: the maker publishes the block safely.
   *
   * @param isolation of its uses from each other
   */
  public HeapBlock(BlockIsolation isolation, Owner owner) {
    super(isolation);
    this.owner = owner;
  }

  private HeapBlock(Block inner, Owner owner, Object ticket) {
    super(inner.region(), inner.offset(), inner.capacityBytes(), BlockIsolation.NONE);
    this.largeBytes = inner instanceof HeapBlock heap ? heap.largeBytes : 0;
    this.owner = owner;
    this.ticket = ticket;
  }

  /**
   * A handle on the same memory as another, which it takes over: the owner closes that one when it
   * is told of this one's close.
   *
   * @param ticket any object of the owner's, the inner handle included
   */
  public static Allocation around(Allocation inner, Owner owner, Object ticket) {
    return new HeapBlock(HANDLES.block(inner), owner, ticket).open(inner.sizeBytes());
  }

  /**
   * Gives a block that is free its memory for the next use.
   *
   * <p>Threading: the owner, alone.
   *
   * @param region where it lies
   * @param offset of its first byte in the region, from 0
   * @param capacityBytes how many bytes it has, those for {@link BlockIsolation#roomBytes} included
   * @param startAddress of its first byte, 0 if addresses were not asked for yet
   * @param itsContainer what the owner has the memory in, or null
   * @param itsTicket another object of the owner's, or null
   */
  public void place(
      MemoryRegion region,
      long offset,
      long capacityBytes,
      long startAddress,
      Object itsContainer,
      Object itsTicket) {
    container = itsContainer;
    ticket = itsTicket;
    place(region, (int) offset, (int) Math.min(capacityBytes, MOST_SEEN_BYTES), startAddress);
  }

  /**
   * Marks the use that is about to begin as larger than one buffer. The block is all of a region of
   * its own, and not isolated: the system provides its memory as zeros and takes it back.
   *
   * <p>Threading: the owner, alone.
   *
   * @param bytes how many bytes the user asked for
   */
  public void beginLarge(long bytes) {
    largeBytes = bytes;
  }

  /** As {@link #sizeBytes}, whatever the size. Threading: as {@link #sizeBytes}. */
  public long requestedBytes() {
    return largeBytes > 0 ? largeBytes : sizeBytes();
  }

  @Override
  public long reservedBytes() {
    return largeBytes > 0 ? region().sizeBytes() : capacityBytes();
  }

  /** The owner's object that holds the memory, or null. Threading: the owner. */
  public Object container() {
    return container;
  }

  /** The owner's other object, or null. Threading: the owner. */
  public Object ticket() {
    return ticket;
  }

  @Override
  protected boolean onFreed() {
    return true;
  }

  @Override
  protected void settle() {
    owner.released(this);
  }
}
