package io.prmalloc.pool;

import io.prmalloc.OutOfNativeMemoryException;
import io.prmalloc.SubAllocator;
import io.prmalloc.internal.arena.Bin;
import io.prmalloc.internal.arena.BinTable;
import io.prmalloc.internal.block.PoolCounts;
import io.prmalloc.internal.block.ReservationGate;
import io.prmalloc.internal.extent.Backoff;
import io.prmalloc.internal.extent.LiveHeap;
import io.prmalloc.internal.freelist.PooledBlock;
import io.prmalloc.internal.lifecycle.Replanner;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Gives blocks of a plan the memory that they lack, and gives more blocks to bins that continue to
 * miss, a few at a time.
 *
 * <p>Threading: any thread.
 */
final class Growth {

  // Under a limit a plan begins without memory (see SwitchOverMemory), and may lose some again (see
  // Reclaim). If a request would be served from outside because its block has no memory, the block
  // gets memory instead: that takes no more than the request would have taken anyway.
  //
  // A plan is made for the steps that were seen, in the interleavings that were rehearsed. Threads
  // produce others: now and then more tensors of one size are allocated together than ever before,
  // and some request finds no block. One of a hundred is too few for a new plan (see Replanner),
  // and a new plan would be no better, for it knows no more. But the live heap serves each of them,
  // which takes longer than a hit.
  //
  // So a bin that continues to miss, although idle blocks were gathered (see ChunkIndex), keeps the
  // block that the next of these requests gets. The block has a region of its own, is tried right
  // after the plan's blocks of its bin, and is freed with the plan. A request that finds no other
  // block may have it too, however much smaller the request is. All bins together may get a part of
  // the arena: traffic that needs more than that needs a new plan. Without the block the heap would
  // hold a region for those requests, in every shard from which they come, which is more than a
  // quarter of a small arena.

  /** A bin gets a block when so many requests found none since it got the last one. */
  static final int MISSES = 8;

  /** The most that all may get is the arena over this. */
  static final int MOST_PART = 4;

  private final TensorPoolAllocator pool;
  private final SubAllocator source;
  private final LiveHeap outside;
  private final Replanner replanner;
  private final ReservationGate gate;
  private final ReentrantLock lifecycle;

  /** How long blocks get no memory back after some was given back for a request. */
  private final Backoff backoff = new Backoff();

  /** Uses of the plan's blocks when memory was last given back. Under the lifecycle's lock. */
  private long usesBefore;

  Growth(
      TensorPoolAllocator pool,
      SubAllocator source,
      LiveHeap outside,
      Replanner replanner,
      ReservationGate gate,
      ReentrantLock lifecycle) {
    this.pool = pool;
    this.source = source;
    this.outside = outside;
    this.replanner = replanner;
    this.gate = gate;
    this.lifecycle = lifecycle;
  }

  /**
   * A request found no block; gives it one that lacked memory, or that its bin did not have before,
   * claimed, or null.
   *
   * @param totalBytes the size, header included
   */
  PooledBlock afterMiss(BinTable table, long totalBytes, int alignment) {
    if (gate.isClosed()) {
      // A block shares its region with others, and takes more than a refused request needs.
      return null;
    }
    boolean backs = table.isLacking() && backoff.isOver();
    PooledBlock lacking = backs ? back(table, totalBytes, alignment) : null;
    return lacking != null ? lacking : grow(table, totalBytes, alignment);
  }

  /** Memory of a plan was given back for a request. Under the lifecycle's lock. */
  void evicted(BinTable table) {
    PoolCounts counts = new PoolCounts();
    table.addTo(counts);
    backoff.used(counts.uses - usesBefore);
    usesBefore = counts.uses;
    backoff.refused();
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
    if (bin == null || bin.countMiss() < MISSES || !mayGrow(table, bin, alignment)) {
      return null;
    }
    // The lock may be held for long: then this request is served from outside as others were.
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
      // Then there may be no memory outside for this request either, and the user is told of that.
      return null;
    }
  }

  /** Notes that more is reserved. If that fails the block is not handed out. */
  private PooledBlock noted(PooledBlock block) {
    try {
      outside.noteReserved();
      return block;
    } catch (Throwable e) {
      if (block != null) {
        block.giveUp();
      }
      throw e;
    }
  }
}
