package io.prmalloc.pool;

import io.prmalloc.os.MemoryRegion;

/**
 * A region cut into slots of one size.
 *
 * <p>Threading: any thread; {@link #queued} belongs to the class's lock.
 */
final class Slab extends BlockStack implements AddressDirectory.Span {

  private final SlabClass owner;
  private final MemoryRegion region;
  private final int slotBytes;
  private final int slots;

  /** Whether the slab waits among those that have free slots. Guarded by the class's lock. */
  boolean queued;

  Slab(SlabClass owner, MemoryRegion region, int slotBytes, int slots) {
    super(slots, SizeClasses.MAX_ALIGNMENT);
    this.owner = owner;
    this.region = region;
    this.slotBytes = slotBytes;
    this.slots = slots;
  }

  @Override
  PooledBlock create(int index) {
    return new PooledBlock(this, (long) index * slotBytes, slotBytes, index);
  }

  /**
   * A slot comes home.
   *
   * @return how many slots are home now, if the class may have to hear of it: it is the first after
   *     none, or the last one. Else 0.
   */
  int takeHome(int slot) {
    int free = release(slot);
    return free == 1 || free == slots ? free : 0;
  }

  /**
   * Tells the class that so many slots are home; of the last one only if this slab does not serve.
   */
  void settle(int freeSlots) {
    if (freeSlots == 1 || !owner.isServing(this)) {
      owner.slabChanged(this);
    }
  }

  @Override
  public MemoryRegion region() {
    return region;
  }

  @Override
  public PooledBlock blockAt(long offset) {
    int index = (int) (offset / slotBytes);
    return index < slots ? blocks()[index] : null;
  }
}
