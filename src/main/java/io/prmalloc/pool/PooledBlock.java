package io.prmalloc.pool;

import io.prmalloc.Block;
import io.prmalloc.Isolation;
import io.prmalloc.os.MemoryRegion;
import java.util.function.LongSupplier;

/** A block of the arena or of a slab; it goes home to a word of bits or a stack. */
final class PooledBlock extends Block {

  // One class for both homes, so that the call in Block.close has few receivers and is inlined.

  private final Slab slab;
  private final int bin;

  /** Which slot of the slab. */
  private final int index;

  private int number;
  private ReadyBlocks home;
  private Numbered numbered;
  private Observation observation;

  /** The number of one use. */
  private record Numbered(long stamp, long id) {}

  // Two threads that use two blocks must not write to one cache line, nor to two that the
  // processor fetches together. Blocks of a bin are made one after the other and lie so.
  @SuppressWarnings("UnusedVariable")
  private long pad0, pad1, pad2, pad3, pad4, pad5, pad6, pad7;

  /** A chunk of a bin's buffer. */
  PooledBlock(MemoryRegion region, long offset, long bytes, Isolation isolation, int bin) {
    super(region, offset, bytes, isolation);
    this.slab = null;
    this.index = -1;
    this.bin = bin;
  }

  /** A slot of a slab. */
  PooledBlock(Slab slab, long offset, long bytes, Isolation isolation, int index) {
    super(slab.region(), offset, bytes, isolation);
    this.slab = slab;
    this.index = index;
    this.bin = -1;
  }

  /** Where a chunk is noted when it comes home, and under which number. Said once. */
  void readyIn(ReadyBlocks where, int itsNumber) {
    home = where;
    number = itsNumber;
  }

  /** Whether the block is a slot of a slab, and so has a light header when raw. */
  boolean isSmall() {
    return slab != null;
  }

  /** A slot's number in its slab, from 0; −1 for a chunk. */
  int index() {
    return index;
  }

  /** Whether a use was ever observed: one that is comes home by a store. */
  boolean wasObserved() {
    return observation != null;
  }

  /** Index of the bin that owns the block, −1 for a slot. */
  int bin() {
    return bin;
  }

  /**
   * The size class of a request that a chunk serves, in the plan it belongs to, which may be one
   * that was replaced.
   */
  int requestBin(long totalBytes) {
    return home.sizeClass(totalBytes);
  }

  /** A chunk's number among all chunks of the arena, from 0. */
  int number() {
    return number;
  }

  /** The bit of a chunk's number in its word. */
  long bit() {
    // Not a field: longs lie in front, where the taker writes, and a close by another thread would
    // fetch one more cache line.
    return 1L << number;
  }

  /** {@link ReadyBlocks#claim Claims} a chunk, whosever it is. */
  boolean claimFromAny() {
    return home.claim(this);
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

  /** Tells observers of the use that is about to begin, and lets them hear of its end. */
  PooledBlock takenBefore(PoolObserver[] observers, long bytes, long alignment) {
    if (observation == null) {
      observation = new Observation(null);
    }
    observation.begin(observers, bytes, alignment);
    observe();
    return this;
  }

  @Override
  protected void tellOfEnd() {
    observation.end();
  }

  @Override
  protected int goHome() {
    // Of a slot it is null, and of a chunk it is needed anyhow.
    ReadyBlocks where = home;
    if (where == null) {
      return slab.takeHome(this);
    }
    where.put(this);
    return where.news();
  }

  @Override
  protected void settle(int news) {
    if (slab != null) {
      slab.settle();
    } else {
      home.settle();
    }
  }
}
