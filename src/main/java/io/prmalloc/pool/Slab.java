package io.prmalloc.pool;

import io.prmalloc.Isolation;
import io.prmalloc.OutOfLine;
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
  private final Isolation isolation;

  /** Whether the slab waits among those that have free slots. Guarded by the class's lock. */
  boolean queued;

  /** Whether the slab serves a stripe. Written under the class's lock. */
  volatile boolean serving;

  private long usesSeen;
  private int idleLooks;

  Slab(SlabClass owner, MemoryRegion region, int slotBytes, int slots, Isolation isolation) {
    super(slots, SizeClasses.MAX_ALIGNMENT);
    this.isolation = isolation;
    this.owner = owner;
    this.region = region;
    this.slotBytes = slotBytes;
    this.slots = slots;
  }

  @Override
  PooledBlock create(int index) {
    return new PooledBlock(this, (long) index * slotBytes, slotBytes, isolation, index);
  }

  /**
   * A slot comes home.
   *
   * @return how many slots are home now, if the class may have to hear of it: it is the first after
   *     none, or the last one. Else 0.
   */
  int takeHome(int slot) {
    return takeHomeOutOfLine(slot, OutOfLine.DEPTH);
  }

  /**
   * {@link BlockStack#release} out of line: with its loop, what the JIT makes of Block.close is
   * more than it inlines in a handler. See {@link OutOfLine}.
   */
  private int takeHomeOutOfLine(int slot, int depth) {
    if (depth > 0) {
      return takeHomeOutOfLine(slot, depth - 1);
    }
    int free = release(slot);
    return free == 1 || free == slots ? free : 0;
  }

  /**
   * Tells the class that so many slots are home; of the last one only if this slab does not serve.
   */
  void settle(int freeSlots) {
    if (freeSlots == 1 || !serving) {
      owner.slabChanged(this);
    }
  }

  /**
   * Whether nothing was out at this look and so many before, nor in between. Under the class's
   * lock.
   */
  boolean isIdle(int looks) {
    PoolCounts counts = new PoolCounts();
    addTo(counts);
    idleLooks = counts.uses == usesSeen && counts.liveBlocks == 0 ? idleLooks + 1 : 0;
    usesSeen = counts.uses;
    return idleLooks >= looks;
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
