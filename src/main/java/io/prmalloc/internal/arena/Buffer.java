package io.prmalloc.internal.arena;

import io.prmalloc.MemoryRegion;
import io.prmalloc.internal.block.Block;
import io.prmalloc.internal.block.PoolCounts;
import io.prmalloc.internal.block.Retirable;
import io.prmalloc.internal.freelist.PooledBlock;
import java.util.Arrays;
import java.util.List;
import java.util.function.ToLongFunction;

/**
 * The blocks of one bin: equal chunks of the arena.
 *
 * <p>DeepRec's {@code Buffer}. Threading: any thread.
 */
public final class Buffer implements Retirable {

  /** How many blocks a request asks on average, at most, before it takes a bin for exhausted. */
  private static final int ASKED_BLOCKS = 64;

  private final int bin;
  private final long strideBytes;
  private final int alignment;
  private final Arena.Place[] places;
  private final Arena arena;
  private final PooledBlock[] blocks;

  /** How many requests are still to go by without asking the blocks. Plain: a hint. */
  private int asksToSkip;

  /** What was discarded, block by block; null if nothing was. Under the lock of this object. */
  private Discarded[] discarded;

  /**
   * Pages of a block that went back.
   *
   * @param region in which the block lay then
   * @param uses how often the block had been used then
   */
  private record Discarded(MemoryRegion region, long uses, long bytes) {}

  /** For each block the uses that were over when the peak was cleared; null if it never was. */
  private volatile long[] usesBeforeClear;

  /**
   * @param bin index of the bin it belongs to
   * @param strideBytes the chunk size rounded up to the alignment
   * @param alignment of every chunk
   * @param places where the chunks lie, at least one
   */
  public Buffer(int bin, long strideBytes, int alignment, Arena.Place[] places, Arena arena) {
    this.bin = bin;
    this.strideBytes = strideBytes;
    this.alignment = alignment;
    this.places = places;
    this.arena = arena;
    this.blocks = new PooledBlock[places.length];
    for (int i = 0; i < blocks.length; i++) {
      int region = places[i].region();
      blocks[i] =
          new PooledBlock(
              arena.region(region), places[i].offset(), strideBytes, arena.isolation(), bin);
      arena.add(region, blocks[i]);
    }
  }

  /** The first block in a region that is lacking, or −1. */
  int firstLacking() {
    for (int i = 0; i < blocks.length; i++) {
      if (arena.isLacking(places[i].region())) {
        return i;
      }
    }
    return -1;
  }

  PooledBlock block(int i) {
    return blocks[i];
  }

  /** The region of the arena in which a block lies. */
  int regionOf(int i) {
    return places[i].region();
  }

  Arena arena() {
    return arena;
  }

  /** A block that has no memory, not claimed; or null. */
  PooledBlock lacking() {
    for (int i = 0; i < blocks.length; i++) {
      if (arena.isLacking(places[i].region())) {
        return blocks[i];
      }
    }
    return null;
  }

  /** Whether it has one block only. Those that came later do, and in no stripe are they noted. */
  boolean isSingle() {
    return blocks.length == 1;
  }

  /** Claims the only block if it is free, or gives null. */
  PooledBlock claimSingle() {
    return blocks[0].claimAndMove() ? blocks[0] : null;
  }

  /**
   * Claims a block by asking every one of them, or gives null: all were allocated at one moment,
   * unless there are more than {@link #ASKED_BLOCKS} and they were asked in vain a short while ago.
   */
  public PooledBlock claimAny() {
    if (asksToSkip > 0) {
      asksToSkip--;
      return null;
    }
    long before = -1;
    while (true) {
      long stamps = 0;
      boolean lost = false;
      for (PooledBlock block : blocks) {
        long stamp = block.stamp();
        if (PooledBlock.isFree(stamp)) {
          if (block.claimAndMove()) {
            return block;
          }
          // One that was not taken belongs to a thread that does not get on: as good as allocated.
          lost |= block.stamp() != stamp;
        }
        // Not their sum: the stamp of a block whose end was told of goes down as it is freed.
        stamps = 31 * stamps + stamp;
      }
      // Equal hashes are equal stamps, and a stamp never comes back but for giveUp while a pool is
      // trimmed or tries to close: nothing was freed between the two rounds.
      if (!lost && stamps == before) {
        asksToSkip = blocks.length / ASKED_BLOCKS;
        return null;
      }
      before = lost ? -1 : stamps;
    }
  }

  /** Index of the bin it belongs to. */
  public int bin() {
    return bin;
  }

  /** The number of the first block; those of the others of its share follow. */
  public int firstNumber() {
    return blocks[0].number();
  }

  public int count() {
    return blocks.length;
  }

  public long strideBytes() {
    return strideBytes;
  }

  /**
   * A bound for the most blocks that were allocated at once since {@link #clearPeak}: those that
   * were allocated then or were taken since.
   */
  int peakBlocks() {
    long[] before = usesBeforeClear;
    int used = 0;
    for (int i = 0; i < blocks.length; i++) {
      used += blocks[i].uses() > (before == null ? 0 : before[i]) ? 1 : 0;
    }
    return used;
  }

  /** Lets {@link #peakBlocks} and the blocks' largest uses begin anew. */
  void clearPeak() {
    long[] before = new long[blocks.length];
    for (int i = 0; i < before.length; i++) {
      long stamp = blocks[i].stamp();
      before[i] = Block.useOf(stamp) - (Block.isAllocated(stamp) ? 1 : 0);
    }
    usesBeforeClear = before;
    for (PooledBlock block : blocks) {
      block.clearLargest();
    }
  }

  public int alignment() {
    return alignment;
  }

  public List<PooledBlock> blocks() {
    return List.of(blocks);
  }

  /** How many blocks were ever taken. */
  public int blocksUsed() {
    return (int) Arrays.stream(blocks).filter(block -> block.uses() > 0).count();
  }

  public int freeBlocks() {
    return (int) Arrays.stream(blocks).filter(block -> PooledBlock.isFree(block.stamp())).count();
  }

  /**
   * Claims all blocks, so that nothing more is allocated, if all are free or without memory; else
   * nothing has changed. While this lasts, no memory may come or go.
   */
  @Override
  public boolean retire() {
    for (int i = 0; i < blocks.length; i++) {
      if (blocks[i].hasMemory() && !blocks[i].claim()) {
        reopen(i);
        return false;
      }
    }
    return true;
  }

  /** Undoes {@link #retire}. */
  @Override
  public void reopen() {
    reopen(blocks.length);
  }

  private void reopen(int count) {
    for (int i = 0; i < count; i++) {
      if (blocks[i].hasMemory()) {
        blocks[i].giveUp();
      }
    }
  }

  /** Closes the handles on blocks that are still allocated; none is allocated again. */
  void revokeAll() {
    for (PooledBlock block : blocks) {
      while (!block.claim() && PooledBlock.isAllocated(block.stamp())) {
        block.revoke();
      }
    }
  }

  /**
   * Gives back the pages of blocks that are free and were used since the last time. Each is claimed
   * meanwhile, so that it is not given out.
   *
   * @param discarder gives the pages of a block back and says how many bytes they have, from 0
   * @return how many bytes went
   */
  public synchronized long discardFree(ToLongFunction<PooledBlock> discarder) {
    if (discarded == null) {
      discarded = new Discarded[blocks.length];
    }
    long released = 0;
    for (int i = 0; i < blocks.length; i++) {
      // A taker that meets the block while it is claimed no longer takes it for ready, until the
      // next close of the block; until then it is found by claimAny.
      if (!isDiscarded(i) && blocks[i].claim()) {
        try {
          long bytes = discarder.applyAsLong(blocks[i]);
          discarded[i] =
              bytes > 0 ? new Discarded(blocks[i].region(), blocks[i].uses(), bytes) : null;
          released += bytes;
        } finally {
          blocks[i].giveUp();
        }
      }
    }
    return released;
  }

  private boolean isDiscarded(int i) {
    return discarded[i] != null
        && discarded[i].region == blocks[i].region()
        && discarded[i].uses == blocks[i].uses();
  }

  /** Bytes of pages that went back and were not used since. */
  synchronized long discardedBytes() {
    long bytes = 0;
    for (int i = 0; discarded != null && i < blocks.length; i++) {
      bytes += isDiscarded(i) ? discarded[i].bytes : 0;
    }
    return bytes;
  }

  /** Forgets what was discarded: all pages are there again, or gone for good. */
  synchronized void noteResident() {
    discarded = null;
  }

  /** Adds up the blocks. */
  public void addTo(PoolCounts counts) {
    for (PooledBlock block : blocks) {
      counts.add(block);
    }
  }
}
