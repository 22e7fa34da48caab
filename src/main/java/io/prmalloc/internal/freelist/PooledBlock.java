package io.prmalloc.internal.freelist;

import io.prmalloc.MemoryRegion;
import io.prmalloc.internal.block.Block;
import io.prmalloc.internal.block.BlockIsolation;
import io.prmalloc.internal.block.Observation;
import io.prmalloc.internal.block.PoolObserver;
import io.prmalloc.internal.block.TolerantObserver;
import java.lang.invoke.VarHandle;
import java.util.function.LongSupplier;

/** A chunk of the arena or a slot of a slab; a bit notes when it is free. */
public final class PooledBlock extends Block {

  // One class for both, so that the call in Block.close has few receivers and is inlined.

  /** −1 for a slot. */
  private final int bin;

  /** The word in which it is noted when it is free. */
  private FreeIndex index;

  /** Its number in the index. */
  private int number;

  /**
   * The stripe that it belongs to. Plain: a hint, written by the thread that has the block or moves
   * it.
   */
  private int stripe;

  private Numbered numbered;
  private Observation observation;

  /** The number of one use. */
  private record Numbered(long stamp, long id) {}

  // Two threads that use two blocks must not write to one cache line, nor to two that the
  // processor fetches together. Blocks of a bin are made one after the other and lie so.
  @SuppressWarnings("UnusedVariable")
  private long pad0, pad1, pad2, pad3, pad4, pad5, pad6, pad7;

  /**
   * A chunk of a bin's buffer.
   *
   * @param region where it lies; null if it has no memory yet, and then it is to be claimed at once
   */
  public PooledBlock(
      MemoryRegion region, long offset, long bytes, BlockIsolation isolation, int bin) {
    super(region, offset, bytes, isolation);
    this.bin = bin;
  }

  /** A slot of a slab. */
  public static PooledBlock slot(
      MemoryRegion region, long offset, long bytes, BlockIsolation isolation) {
    return new PooledBlock(region, offset, bytes, isolation, -1);
  }

  /** Says where the block is noted when it is free, and under which number. Said once. */
  public void notedIn(FreeIndex where, int itsNumber) {
    index = where;
    number = itsNumber;
  }

  public int number() {
    return number;
  }

  /** The stripe that it belongs to: where threads find it when it is free (see FreeIndex). */
  int stripe() {
    return stripe;
  }

  /** Lets it belong to a stripe. Written only if it must be. */
  public void moveTo(int toStripe) {
    if (stripe != toStripe) {
      stripe = toStripe;
    }
  }

  /** Whether the block is a slot of a slab, and so has a light header when raw. */
  public boolean isSmall() {
    return bin < 0;
  }

  /** Index of the bin that owns the block, −1 for a slot. */
  public int bin() {
    return bin;
  }

  /**
   * The size class of a request that a chunk serves, in the plan it belongs to, which may be one
   * that was replaced.
   */
  public int requestBin(long totalBytes) {
    return index.sizeClass(totalBytes);
  }

  /** The bit of the number in its word. */
  long bit() {
    return 1L << number;
  }

  /** Claims the block if it is free, and lets it belong to the caller's stripe. */
  public boolean claimAndMove() {
    if (!claim()) {
      return false;
    }
    moveTo(index.stripe());
    return true;
  }

  /** Frees a claimed block that was not given out, and notes it. */
  public void release() {
    giveUp();
    index.put(this);
  }

  /** Gives a claimed block new memory, or takes it away if that is null. It stays claimed. */
  public void moveInto(MemoryRegion region) {
    attach(region);
  }

  /**
   * The number of the use with this stamp: the next one if it has none yet, for most uses are never
   * asked for theirs.
   */
  public synchronized long idOf(long stamp, LongSupplier nextId) {
    if (numbered == null || numbered.stamp != stamp) {
      numbered = new Numbered(stamp, nextId.getAsLong());
    }
    return numbered.id;
  }

  /**
   * Tells observers of the use that is about to begin, and makes sure that they are told of its
   * end.
   */
  public PooledBlock takenBefore(PoolObserver[] observers, long bytes, long alignment) {
    if (observation == null) {
      observation = new Observation(null);
    }
    observation.begin(observers, bytes, alignment);
    observe();
    return this;
  }

  @Override
  protected void tellOfEnd() {
    try {
      observation.end();
    } catch (Throwable e) {
      // The block is freed all the same.
      TolerantObserver.failed(e);
    }
  }

  @Override
  protected void onFreedByStore() {
    // Otherwise the listener might be read too early: see FreeIndex.tell.
    VarHandle.fullFence();
  }

  @Override
  public boolean onFreed() {
    FreeIndex where = index;
    where.put(this);
    return where.isTold();
  }

  @Override
  public void settle() {
    index.settle(this);
  }
}
