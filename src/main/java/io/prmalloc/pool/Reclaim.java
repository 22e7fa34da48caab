package io.prmalloc.pool;

import io.prmalloc.RegionHeap;
import java.util.concurrent.locks.Lock;

/**
 * Gives back memory that a pool holds and does not use, before a request is refused for want of it.
 *
 * <p>Threading: any thread that holds no lock of the pool.
 */
final class Reclaim {

  // What costs least to have again goes first, and no more than is wanted:
  //
  //   1. what the heap outside keeps, and empty slabs
  //   2. arenas of plans that were replaced, as far as their blocks are home
  //   3. regions of the plan with every block home; a block gets memory again when it is wanted
  //   4. arenas of steps that no step has at the moment
  //
  // It waits for the lifecycle's lock, and so for a switch-over that is going on: what that has
  // reserved is there to be had then.

  private final TensorPoolAllocator pool;
  private final RegionHeap outside;
  private final SmallBlocks small;
  private final PlannedSteps steps;
  private final RetiredBins retired;
  private final Lock lifecycle;

  Reclaim(
      TensorPoolAllocator pool,
      RegionHeap outside,
      SmallBlocks small,
      PlannedSteps steps,
      RetiredBins retired,
      Lock lifecycle) {
    this.pool = pool;
    this.outside = outside;
    this.small = small;
    this.steps = steps;
    this.retired = retired;
    this.lifecycle = lifecycle;
  }

  /**
   * Gives memory back.
   *
   * @param bytes how many are wanted
   * @return how many went; fewer if there are no more
   */
  long run(long bytes) {
    lifecycle.lock();
    try {
      long gone = outside.releaseUnused() + small.trim();
      if (gone < bytes) {
        gone += retired.evict();
      }
      BinTable table = pool.bins();
      if (gone < bytes && table != null) {
        gone += table.evict(bytes - gone);
      }
      if (gone < bytes) {
        gone += steps.trim(0);
      }
      return gone;
    } finally {
      lifecycle.unlock();
    }
  }
}
