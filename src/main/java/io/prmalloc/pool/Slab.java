package io.prmalloc.pool;

import io.prmalloc.Block;
import io.prmalloc.os.MemoryRegion;

/**
 * A region cut into slots of one size. Slots get their block object when they are first used.
 *
 * <p>Threading: any thread; {@link #queued} belongs to the class's lock.
 */
final class Slab implements AddressDirectory.Span {

  private final SlabClass owner;
  private final MemoryRegion region;
  private final int slotBytes;
  private final IndexStack free;
  private final PooledBlock[] blocks;

  /** Whether the slab waits among those that have free slots. Guarded by the class's lock. */
  boolean queued;

  Slab(SlabClass owner, MemoryRegion region, int slotBytes, int slots) {
    this.owner = owner;
    this.region = region;
    this.slotBytes = slotBytes;
    this.free = new IndexStack(slots);
    this.blocks = new PooledBlock[slots];
  }

  /** Takes a slot, or null if none is free. */
  PooledBlock allocate() {
    int index = free.pop();
    if (index < 0) {
      return null;
    }
    PooledBlock block = blocks[index];
    if (block == null) {
      block = new PooledBlock(this, (long) index * slotBytes, slotBytes, free, index);
      blocks[index] = block;
    }
    return block;
  }

  /**
   * A slot has come home.
   *
   * @param freeSlots how many are home now
   */
  void cameHome(int freeSlots) {
    if (freeSlots == 1 || freeSlots == blocks.length) {
      owner.slabChanged(this);
    }
  }

  boolean isEmpty() {
    return free.size() == blocks.length;
  }

  boolean hasFreeSlots() {
    return free.size() > 0;
  }

  boolean retire() {
    return free.retire();
  }

  void reopen() {
    free.reopen();
  }

  /** The slots that were ever used; the others are null. */
  PooledBlock[] blocks() {
    return blocks;
  }

  @Override
  public MemoryRegion region() {
    return region;
  }

  @Override
  public Block blockAt(long offset) {
    int index = (int) (offset / slotBytes);
    return index < blocks.length ? blocks[index] : null;
  }
}
