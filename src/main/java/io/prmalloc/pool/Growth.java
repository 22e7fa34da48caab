package io.prmalloc.pool;

import io.prmalloc.OutOfNativeMemoryException;
import io.prmalloc.SubAllocator;
import io.prmalloc.internal.arena.Bin;
import io.prmalloc.internal.arena.BinTable;
import io.prmalloc.internal.extent.LiveHeap;
import io.prmalloc.internal.freelist.PooledBlock;
import io.prmalloc.internal.lifecycle.Replanner;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Gives blocks of a plan the memory that they lack, and bins that go on missing more blocks, a
 * little at a time.
 *
 * <p>Threading: any thread.
 */
final class Growth {

  // Under a limit a plan begins without memory (see SwitchOverMemory), and may lose some again (see
  // Reclaim). A request that would go outside for want of a block then has the block reserved
  // instead: it takes as much as the request would have taken anyway.
  //
  // A plan is made for the steps that were seen, in the interleavings that were rehearsed. Threads
  // find others: now and then a few tensors of one size are out together that never were before,
  // and some request finds no block. One of a hundred is too few for a new plan (see Replanner),
  // and a new plan would be no better, for it knows no more. But the live heap serves each of them,
  // which takes longer than a hit.
  //
  // So a bin that goes on missing, although what lay idle was gathered (see ChunkIndex), keeps the
  // block that the next of them gets. It has a region of its own, is asked right after the plan's
  // blocks of its bin, and goes with the plan. Who finds nothing else may have it too, however much
  // smaller the request is. What all bins may get is a part of the arena: whoever needs more than
  // that needs a new plan. Without the block the heap would hold a region for those requests, in
  // every shard from which they come, which is more than a quarter of a small arena.

  /** A bin gets a block when so many requests found nothing since it got the last one. */
  static final int MISSES = 8;

  /** The most that all may get is the arena over this. */
  static final int MOST_PART = 4;

  private final TensorPoolAllocator pool;
  private final SubAllocator source;
  private final LiveHeap outside;
  private final Replanner replanner;
  private final ReentrantLock lifecycle;

  Growth(
      TensorPoolAllocator pool,
      SubAllocator source,
      LiveHeap outside,
      Replanner replanner,
      ReentrantLock lifecycle) {
    this.pool = pool;
    this.source = source;
    this.outside = outside;
    this.replanner = replanner;
    this.lifecycle = lifecycle;
  }

  /**
   * A request found no block; gives it one that lacked memory, or that its bin did not have before,
   * claimed, or null.
   *
   * @param totalBytes the size, header included
   */
  PooledBlock afterMiss(BinTable table, long totalBytes, int alignment) {
    PooledBlock lacking = table.isLacking() ? back(table, totalBytes, alignment) : null;
    return lacking != null ? lacking : grow(table, totalBytes, alignment);
  }

  private PooledBlock back(BinTable table, long totalBytes, int alignment) {
    // As below.
    if (!lifecycle.tryLock()) {
      return null;
    }
    try {
      if (pool.bins() != table) {
        return null;
      }
      return noted(table.back(totalBytes, alignment));
    } finally {
      lifecycle.unlock();
    }
  }

  private PooledBlock grow(BinTable table, long totalBytes, int alignment) {
    Bin bin = table.binOf(totalBytes);
    if (bin == null || bin.missed() < MISSES || !mayGrow(table, bin, alignment)) {
      return null;
    }
    // Whoever holds the lock may be at it for long: then this request goes outside as others did.
    if (!lifecycle.tryLock()) {
      return null;
    }
    try {
      boolean serves = pool.bins() == table && mayGrow(table, bin, alignment);
      return serves ? grow(table, bin) : null;
    } finally {
      lifecycle.unlock();
    }
  }

  private boolean mayGrow(BinTable table, Bin bin, int alignment) {
    long grown = table.grownBytes();
    long most = (table.arenaBytes() - grown) / MOST_PART;
    return bin.own() != null
        && alignment <= bin.own().alignment()
        && grown + bin.own().strideBytes() <= most
        && replanner.isEnabled()
        && !replanner.isCollecting();
  }

  private PooledBlock grow(BinTable table, Bin bin) {
    try {
      return noted(table.grow(bin, source));
    } catch (OutOfNativeMemoryException refused) {
      // Then there may be none for this request outside either, and that is told to the user.
      return null;
    }
  }

  /** Notes that more is reserved. If that fails nobody gets the block. */
  private PooledBlock noted(PooledBlock block) {
    boolean done = false;
    try {
      outside.noteReserved();
      done = true;
      return block;
    } finally {
      if (!done && block != null) {
        block.giveUp();
      }
    }
  }
}
