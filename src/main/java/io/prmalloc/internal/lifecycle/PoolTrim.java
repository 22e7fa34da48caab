package io.prmalloc.internal.lifecycle;

import io.prmalloc.internal.arena.BinTable;
import io.prmalloc.internal.block.SafeLog;
import io.prmalloc.internal.extent.LiveHeap;
import io.prmalloc.internal.freelist.PooledBlock;
import io.prmalloc.internal.os.OperatingSystem;
import io.prmalloc.internal.slab.SmallBlocks;
import io.prmalloc.internal.steps.PlannedSteps;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;

/**
 * Gives back the memory that a pool does not use at the moment.
 *
 * <p>Threading: one thread; the pool stays open meanwhile, and other threads continue to use it.
 */
public final class PoolTrim {

  // Memory that the source takes back as a whole is given back first: unused step arenas, slabs
  // with every slot free, regions of the heap with nothing in use; then the free pages of its other
  // regions. The plan's arena must stay, for its blocks may be asked for at any time and each has
  // its place; the pages of free blocks are given back, one block after the other. Every user of a
  // block claims it, so the trimmer claims it too: while its pages are given back, at most one
  // block is unavailable, for the time of a system call.
  //
  // A block that was not used since its pages were given back has none to give. That is known from
  // its count of uses, so a second trim costs no system call and returns 0.
  //
  // The C library comes last, because it got the memory of direct slabs and arenas.

  private static final Logger LOGGER = SafeLog.logger(PoolTrim.class);

  private final PlannedSteps steps;
  private final SmallBlocks small;
  private final BinTable bins;
  private final LiveHeap outside;
  private boolean refused;

  /**
   * @param bins the plan that serves, or null
   */
  public PoolTrim(PlannedSteps steps, SmallBlocks small, BinTable bins, LiveHeap outside) {
    this.steps = steps;
    this.small = small;
    this.bins = bins;
    this.outside = outside;
  }

  /** Returns how many bytes were given back. */
  public long run() {
    long bytes = steps.trim(0) + small.trim() + outside.trim();
    if (bins != null) {
      bytes += bins.discardFree(this::discard);
    }
    OperatingSystem.trimHeap();
    return bytes;
  }

  /** Gives back the whole pages of a block that this thread has claimed; how many bytes that is. */
  private long discard(PooledBlock block) {
    if (refused) {
      return 0;
    }
    try {
      return block.region().discard(block.offset(), block.capacityBytes());
    } catch (IllegalStateException | UnsupportedOperationException | OutOfMemoryError notHere) {
      // Native calls are not available, or the memory is locked and is to stay resident.
      refused = true;
      SafeLog.log(LOGGER, Level.DEBUG, "free blocks stay in memory", notHere);
      return 0;
    }
  }
}
