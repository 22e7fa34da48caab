package io.prmalloc.pool;

import io.prmalloc.Block;
import io.prmalloc.Isolation;
import io.prmalloc.OutOfLine;
import io.prmalloc.os.MemoryRegion;
import java.lang.invoke.VarHandle;
import java.util.function.LongSupplier;

/** A chunk of the arena or a slot of a slab; a bit tells when it is home. */
final class PooledBlock extends Block {

  // One class for both, so that the call in Block.close has few receivers and is inlined.

  /** −1 for a slot. */
  private final int bin;

  private ReadyBlocks home;
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
  PooledBlock(MemoryRegion region, long offset, long bytes, Isolation isolation, int bin) {
    super(region, offset, bytes, isolation);
    this.bin = bin;
  }

  /** A slot of a slab. */
  static PooledBlock slot(MemoryRegion region, long offset, long bytes, Isolation isolation) {
    return new PooledBlock(region, offset, bytes, isolation, -1);
  }

  /** Where the block is noted when it comes home, and under which number. Said once. */
  void readyIn(ReadyBlocks where, int itsNumber) {
    home = where;
    setNumber(itsNumber);
  }

  /** Whether the block is a slot of a slab, and so has a light header when raw. */
  boolean isSmall() {
    return bin < 0;
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

  /** Of which blocks it is one: of another plan's if its own was replaced. */
  ReadyBlocks home() {
    return home;
  }

  /** Whether it has been noted in a word of the stripe that the calling thread holds. */
  boolean isHeldByCaller() {
    ReadyWord word = (ReadyWord) ready();
    return word != null && word.isHeldByCaller();
  }

  /**
   * Takes the block if it is home and {@link #isHeldByCaller held by the caller}, for a use as the
   * one before.
   *
   * @param extent of the use
   * @return its stamp, or 0
   */
  long reopen(long extent) {
    return ((ReadyWord) ready()).reopen(this, extent);
  }

  /**
   * Tells that a thread found it noted and could not have it. Out of line: see {@link OutOfLine}.
   */
  void passedOver(int depth) {
    if (depth > 0) {
      passedOver(depth - 1);
    } else {
      home.passedOver(this);
    }
  }

  /** No longer noted where its uses are, if it is out and the calling thread holds that stripe. */
  void forgetIfOut() {
    ReadyWord word = (ReadyWord) ready();
    if (word != null && word.isHeldByCaller()) {
      word.forgetIfOut(this);
    }
  }

  /** The bit of the number in its word. */
  long bit() {
    // Not a field: longs lie in front, where the taker writes, and a close by another thread would
    // fetch one more cache line.
    return 1L << number();
  }

  /** {@link ReadyBlocks#claim Claims} the block, whosever it is. */
  boolean claimFromAny() {
    return home.claim(this);
  }

  /** Brings a claimed block home, in new memory. */
  void comeHomeIn(MemoryRegion region) {
    attach(region);
    giveUp();
    home.put(this);
  }

  /** Gives a claimed block new memory, or takes it away if that is null. It stays claimed. */
  void moveTo(MemoryRegion region) {
    attach(region);
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
    try {
      observation.end();
    } catch (Throwable e) {
      // The block comes home all the same.
      TolerantObserver.failed(e);
    }
  }

  @Override
  protected void cameHomeByStore() {
    // Or whether the slab's front is shut, or whether somebody is to be told of a chunk, might be
    // read too soon: see BlockStack and ReadyBlocks.tell.
    VarHandle.fullFence();
  }

  @Override
  protected int goHome() {
    ReadyBlocks where = home;
    where.put(this);
    return where.news();
  }

  @Override
  protected void settle(int news) {
    home.settle(this);
  }
}
