package io.prmalloc.pool;

import io.prmalloc.Isolation;
import io.prmalloc.OutOfLine;
import io.prmalloc.os.MemoryRegion;
import java.lang.invoke.VarHandle;

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
  private final boolean isolated;

  /** Whether the slab waits among those that have free slots. Guarded by the class's lock. */
  boolean queued;

  private long usesSeen;
  private int idleLooks;

  Slab(SlabClass owner, MemoryRegion region, int slotBytes, int slots, Isolation isolation) {
    super(slots);
    this.isolation = isolation;
    this.isolated = !isolation.equals(Isolation.NONE);
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
   * A slot comes home. Out of line, or what the JIT makes of Block.close is more than it inlines in
   * a handler: see {@link OutOfLine}.
   *
   * @return more than 0 if the class is to hear of it by {@link #settle}
   */
  int takeHome(PooledBlock slot) {
    return takeHome(slot, OutOfLine.DEPTH);
  }

  private int takeHome(PooledBlock slot, int depth) {
    if (depth > 0) {
      return takeHome(slot, depth - 1);
    }
    if (isolated || slot.wasObserved()) {
      // It may have come home by a plain release, after which the front might be looked at too
      // soon.
      VarHandle.fullFence();
    }
    return release(slot, slot.index());
  }

  /** Tells the class that a slab that does not serve has its first free slot, or all of them. */
  void settle() {
    owner.slabChanged(this);
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
