package io.prmalloc;

import io.prmalloc.os.MemoryRegion;

/**
 * A block that is given out once: a region of its own, or a second handle around one that another
 * allocator gave out. What becomes of it is its owner's business.
 *
 * <p>Threading: as {@link Block} says.
 */
final class SingleUseBlock extends Block {

  // One class for all that is used once and no subclass for each, because Block.close calls goHome
  // on the way of every handle: the JIT inlines such a call for two classes, this one and the
  // pool's, and not for three. A server that tracks or logs now and then must not slow its pool
  // down.

  /** Told of a block that was closed. */
  @FunctionalInterface
  interface Owner {
    void released(SingleUseBlock block);
  }

  private final Owner owner;
  private final Object ticket;

  // The books of a RegionHeap, under its lock.
  SingleUseBlock previous;
  SingleUseBlock next;
  long rawAddress;
  long allocationId;

  /**
   * All of a region.
   *
   * @param ticket whatever the owner wants to find in it
   */
  SingleUseBlock(MemoryRegion region, Isolation isolation, Owner owner, Object ticket) {
    super(region, isolation);
    this.owner = owner;
    this.ticket = ticket;
  }

  private SingleUseBlock(Block inner, Owner owner, Object ticket) {
    super(inner.region(), inner.offset(), inner.capacityBytes(), Isolation.NONE);
    this.owner = owner;
    this.ticket = ticket;
  }

  /**
   * A handle on the same memory as another, which it takes over: the owner closes that one when it
   * is told of this one's close.
   *
   * @param ticket whatever the owner wants to find in the block, the inner handle among it
   */
  static Allocation around(Allocation inner, Owner owner, Object ticket) {
    return new SingleUseBlock(inner.block(), owner, ticket).open(inner.sizeBytes());
  }

  Object ticket() {
    return ticket;
  }

  @Override
  protected int goHome() {
    return 1;
  }

  @Override
  protected void settle(int news) {
    owner.released(this);
  }
}
