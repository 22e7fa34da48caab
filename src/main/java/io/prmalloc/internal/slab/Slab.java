package io.prmalloc.internal.slab;

import io.prmalloc.MemoryRegion;
import io.prmalloc.internal.block.AddressDirectory;
import io.prmalloc.internal.block.BlockIsolation;
import io.prmalloc.internal.block.PoolCounts;
import io.prmalloc.internal.block.Stripes;
import io.prmalloc.internal.freelist.PooledBlock;

/**
 * A region cut into slots of one size.
 *
 * <p>Threading: any thread; {@link #queued} belongs to the class's lock.
 */
final class Slab extends BlockStack implements AddressDirectory.Span {

  // Which slot an address lies in is on the way of every deallocateRaw, and a division there takes
  // as long as four multiplications. With this shift the product fits a long and is exact for
  // offsets to 2^24, further than any slab reaches.
  private static final int RECIPROCAL_SHIFT = 40;

  private final SlabClass owner;
  private final MemoryRegion region;
  private final int slotBytes;
  private final int slots;

  /** One by {@link #slotBytes}, rounded up, as so many parts of 2^{@link #RECIPROCAL_SHIFT}. */
  private final long reciprocal;

  private final BlockIsolation isolation;

  /** The next of those that are leaving. Guarded by the class's lock, and then by one thread. */
  Slab nextLeaving;

  /** Whether the slab waits among those that have free slots. Guarded by the class's lock. */
  boolean queued;

  /** Which stripe it serves, or served last. Written under the class's lock. */
  private volatile int stripe;

  private long usesSeen;
  private int idleLooks;

  Slab(
      SlabClass owner,
      MemoryRegion region,
      int slotBytes,
      int slots,
      BlockIsolation isolation,
      Stripes stripes) {
    super(slots, stripes);
    this.isolation = isolation;
    this.owner = owner;
    this.region = region;
    this.slotBytes = slotBytes;
    this.slots = slots;
    this.reciprocal = (1L << RECIPROCAL_SHIFT) / slotBytes + 1;
  }

  int slots() {
    return slots;
  }

  /** Which stripe it serves, or served last. */
  int stripe() {
    return stripe;
  }

  /** Lets it serve a stripe, to which all its slots belong from then on. */
  void serve(int toStripe) {
    if (stripe != toStripe) {
      stripe = toStripe;
      forEachBlock(slot -> slot.moveTo(toStripe));
    }
  }

  @Override
  PooledBlock create(int index) {
    PooledBlock slot = PooledBlock.slot(region, (long) index * slotBytes, slotBytes, isolation);
    slot.moveTo(stripe);
    return slot;
  }

  @Override
  void changed() {
    owner.slabChanged(this);
  }

  /**
   * Whether nothing was allocated at this look and so many before, nor in between. Under the
   * class's lock.
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
    int index = (int) ((offset * reciprocal) >>> RECIPROCAL_SHIFT);
    return index < slots ? blocks()[index] : null;
  }
}
