package io.prmalloc.pool;

import io.prmalloc.SubAllocator;
import io.prmalloc.internal.arena.BinTable;
import io.prmalloc.internal.extent.LiveHeap;
import io.prmalloc.internal.lifecycle.DrainingPlans;
import io.prmalloc.internal.slab.SmallBlocks;
import io.prmalloc.internal.steps.PlannedSteps;
import java.util.concurrent.locks.Lock;

/**
 * Gives back memory that a pool holds and does not use, before a request is refused for lack of
 * memory.
 *
 * <p>Threading: any thread that holds no lock of the pool.
 */
final class Reclaim {

  // Memory that costs the least to reserve again is given back first, and no more than is needed:
  //
  //   1. what the heap outside keeps
  //   2. arenas of plans that were replaced, as far as their blocks are free
  //   3. regions of the plan with every block free; a block gets memory again when it is wanted
  //   4. arenas of steps that no step has at the moment; then the plan is looked at once more
  //   5. empty slabs, which are many and small; then once more
  //
  // Nothing of the plan is given back if it would not be enough, so that a request for which there
  // can be no memory does not cost other requests theirs.
  //
  // It waits for the lifecycle's lock, and so for a switch-over that is under way: memory that the
  // switch-over has reserved is available then.

  private final TensorPoolAllocator pool;
  private final SubAllocator source;
  private final LiveHeap outside;
  private final SmallBlocks small;
  private final PlannedSteps steps;
  private final DrainingPlans retired;
  private final Growth growth;
  private final Lock lifecycle;

  Reclaim(
      TensorPoolAllocator pool,
      SubAllocator source,
      LiveHeap outside,
      SmallBlocks small,
      PlannedSteps steps,
      DrainingPlans retired,
      Growth growth,
      Lock lifecycle) {
    this.pool = pool;
    this.source = source;
    this.outside = outside;
    this.small = small;
    this.steps = steps;
    this.retired = retired;
    this.growth = growth;
    this.lifecycle = lifecycle;
  }

  /**
   * Gives memory back.
   *
   * @param bytes how many were asked for, and refused
   * @return how many were given back; 0 if there are no more
   */
  long run(long bytes) {
    lifecycle.lock();
    try {
      if (missing(bytes, 0) > source.bytesReserved() && source.bytesAvailable() < Long.MAX_VALUE) {
        // All that could go would not be enough under a limit that is known.
        return 0;
      }
      long gone = outside.releaseUnused();
      if (missing(bytes, gone) > 0) {
        gone += retired.evict();
      }
      gone += evict(missing(bytes, gone));
      if (missing(bytes, gone) > 0) {
        gone += steps.trim(0);
        gone += evict(missing(bytes, gone));
      }
      if (missing(bytes, gone) > 0) {
        gone += small.trim();
        gone += evict(missing(bytes, gone));
      }
      return gone;
    } finally {
      lifecycle.unlock();
    }
  }

  private long missing(long bytes, long gone) {
    long available = source.bytesAvailable();
    if (available == Long.MAX_VALUE) {
      return bytes - gone;
    }
    // The request was refused nevertheless, for instance because pages are reserved as a whole.
    long least = gone == 0 ? 1 : 0;
    return Math.max(least, bytes - available);
  }

  private long evict(long bytes) {
    BinTable table = pool.bins();
    long gone = bytes > 0 && table != null ? table.evict(bytes) : 0;
    if (gone > 0) {
      growth.evicted(table);
    }
    return gone;
  }
}
