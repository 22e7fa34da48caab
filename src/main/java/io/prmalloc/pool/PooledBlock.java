package io.prmalloc.pool;

import io.prmalloc.Block;
import io.prmalloc.os.MemoryRegion;
import java.util.function.LongSupplier;

/** A block of the arena or of a slab; it goes home to a stack. */
final class PooledBlock extends Block {

  // One class for both homes, so that the call in Block.close has few receivers and is inlined.

  private final BlockStack home;
  private final int index;
  private final Slab slab;
  private final int bin;
  private long startAddress;
  private Numbered numbered;

  /** The number of one use. */
  private record Numbered(long stamp, long id) {}

  /** A chunk of a bin's buffer. */
  PooledBlock(MemoryRegion region, long offset, long bytes, Buffer home, int index, int bin) {
    super(region, offset, bytes);
    this.home = home;
    this.index = index;
    this.slab = null;
    this.bin = bin;
  }

  /** A slot of a slab. */
  PooledBlock(Slab slab, long offset, long bytes, int index) {
    super(slab.region(), offset, bytes);
    this.home = slab;
    this.index = index;
    this.slab = slab;
    this.bin = -1;
  }

  /** Whether the block is a slot of a slab, and so has a light header when raw. */
  boolean isSmall() {
    return slab != null;
  }

  /** Index of the bin that owns the block, −1 for a slot. */
  int bin() {
    return bin;
  }

  /**
   * Address of the block's first byte; found out at the first call, for it may cost a native call.
   */
  long startAddress() {
    long start = startAddress;
    if (start == 0) {
      start = region().address() + offset();
      startAddress = start;
    }
    return start;
  }

  /**
   * The number of the use with this stamp: the next one if it has none yet, for most uses are never
   * asked for theirs.
   */
  synchronized long idOf(long stamp, LongSupplier nextId) {
    if (numbered == null || numbered.stamp != stamp) {
      numbered = new Numbered(stamp, nextId.getAsLong());
    }
    return numbered.id;
  }

  @Override
  protected int goHome() {
    int free = home.release(index);
    return slab == null ? 0 : slab.news(free);
  }

  @Override
  protected void settle(int news) {
    slab.settle(news);
  }
}
