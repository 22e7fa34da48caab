package io.prmalloc.pool;

import io.prmalloc.internal.arena.BinTable;
import io.prmalloc.internal.block.Block;
import io.prmalloc.internal.extent.LiveHeap;
import io.prmalloc.internal.freelist.PooledBlock;
import io.prmalloc.internal.lifecycle.ReplanSettings;
import io.prmalloc.internal.lifecycle.Replanner;
import java.util.List;

/**
 * Detects that the shared pool holds more memory than its traffic needs.
 *
 * <p>Threading: {@link #look} one thread at a time; the rest any thread.
 */
final class OverProvisionMonitor {

  // Use is not reported. The blocks count their uses, so two walks find what was used in a time: a
  // block that was not allocated at the first and has no more uses at the second was not needed.
  // The pool looks for blocks in the same order each time, so surplus blocks are not used. Blocks
  // can also be too large: every look adds up how many bytes of the allocated blocks are requested.
  //
  //   used     bytes of the blocks that were used
  //   needed   the same times the part of them that is asked for
  //   idle     bytes that the heap beside the plan holds for a few requests without a block, each
  //            for a moment, and that were free at every look
  //
  // A plan has a useless part if its arena and what is idle are much larger than what is used, or
  // if the traffic needs less than it did when the plan took over (blocks are larger than asked for
  // under any plan, so only the change tells). Both must hold for a whole idle time, with traffic.
  // Then statistics are collected, as after misses; if the plan they give is not smaller, the old
  // one stays.
  //
  // Hysteresis: after a try that gained nothing the next wait is twice as long, also if a smaller
  // plan left more idle beside it, and if the pool had to grow again soon after it had shrunk, as
  // it has where demand comes in bursts. Several quiet waits in a row make the next one half as
  // long.

  /** How often the pool is looked at within the idle time. */
  static final int LOOKS = 16;

  private static final int MAX_DOUBLINGS = 8;

  /** After so many waits without a reason to act, the next wait is half as long. */
  private static final int QUIET_WAITS = 8;

  /** Idle memory counts if one of so many requests found no block, in two waits in a row. */
  private static final int RARE = 200;

  private static final double MIN_FILLED = 0.5;

  /** With fewer samples than this, nothing is said about how full blocks are. */
  private static final int MIN_SAMPLES = 16;

  private final ReplanSettings settings;
  private final TensorPoolAllocator pool;
  private final LiveHeap outside;
  private final Replanner replanner;

  // Under the lock of this object.
  private BinTable watched;
  private List<PooledBlock> blocks;
  private long[] usesBefore;
  private PoolStats statsBefore;
  private long sampledBytes;
  private long sampledCapacity;
  private int samples;
  private int looks;
  private long idleBytes;
  private long heldBefore;
  private boolean wasOften;
  private double neededAtFirst;
  private int doublings;
  private int quietWaits;
  private boolean shrunk;

  OverProvisionMonitor(
      ReplanSettings settings, TensorPoolAllocator pool, LiveHeap outside, Replanner replanner) {
    this.settings = settings;
    this.pool = pool;
    this.outside = outside;
    this.replanner = replanner;
  }

  /** To be called {@link #LOOKS} times within the idle time. */
  synchronized void look() {
    BinTable table = pool.bins();
    if (table == null || replanner.isCollecting()) {
      watched = null;
      return;
    }
    if (table != watched) {
      noteSwitchOver();
      watched = table;
      neededAtFirst = 0;
      wasOften = false;
      begin(table);
      return;
    }
    sample();
    if (++looks >= LOOKS << doublings) {
      judge(table);
      begin(table);
    }
  }

  private void noteSwitchOver() {
    Replanner.Outcome outcome = replanner.takeOutcome();
    if (outcome == Replanner.Outcome.IN_VAIN || (outcome == Replanner.Outcome.GREW && shrunk)) {
      waitLonger();
    }
    if (outcome != Replanner.Outcome.NONE) {
      shrunk = outcome == Replanner.Outcome.SHRANK;
    }
  }

  private void waitLonger() {
    doublings = Math.min(MAX_DOUBLINGS, doublings + 1);
    quietWaits = 0;
  }

  private void begin(BinTable table) {
    blocks = table.blocks();
    usesBefore = new long[blocks.size()];
    for (int i = 0; i < usesBefore.length; i++) {
      long stamp = blocks.get(i).stamp();
      usesBefore[i] = Block.useOf(stamp) - (Block.isAllocated(stamp) ? 1 : 0);
    }
    statsBefore = pool.poolStats();
    sampledBytes = 0;
    sampledCapacity = 0;
    samples = 0;
    idleBytes = Long.MAX_VALUE;
    looks = 0;
  }

  private void sample() {
    idleBytes = Math.min(idleBytes, outside.idleBytes());
    for (PooledBlock block : blocks) {
      long stamp = block.stamp();
      long bytes = Block.isAllocated(stamp) ? block.bytesIn(stamp) : -1;
      if (bytes >= 0) {
        sampledBytes += bytes;
        sampledCapacity += block.capacityBytes();
        samples++;
      }
    }
  }

  private void judge(BinTable table) {
    long used = 0;
    long uses = 0;
    for (int i = 0; i < usesBefore.length; i++) {
      long more = blocks.get(i).uses() - usesBefore[i];
      used += more > 0 ? blocks.get(i).capacityBytes() : 0;
      uses += more;
    }
    if (uses < 2L * usesBefore.length) {
      // There is too little traffic to learn from; a trim is for the memory of an idle pool.
      return;
    }
    double filled = samples < MIN_SAMPLES ? 1 : (double) sampledBytes / sampledCapacity;
    double needed = used * filled;
    if (heldBefore > 0 && settings.gain() * (table.arenaBytes() + idleBytes) > heldBefore) {
      waitLonger();
    }
    heldBefore = 0;
    boolean often = isOftenUnserved();
    long held = table.arenaBytes() + (often && wasOften ? idleBytes : 0);
    wasOften = often;
    boolean spare = held > settings.spare() * used;
    boolean fewer =
        neededAtFirst > settings.gain() * settings.gain() * needed || filled < MIN_FILLED;
    if (neededAtFirst == 0) {
      neededAtFirst = needed;
    }
    if ((spare || fewer) && replanner.shrink(held)) {
      heldBefore = table.arenaBytes() + idleBytes;
      quietWaits = 0;
    } else if (++quietWaits >= QUIET_WAITS && doublings > 0) {
      doublings--;
      quietWaits = 0;
    }
  }

  private boolean isOftenUnserved() {
    PoolStats stats = pool.poolStats();
    long unserved = unserved(stats) - unserved(statsBefore);
    return RARE * unserved >= unserved + stats.hits() - statsBefore.hits();
  }

  private static long unserved(PoolStats stats) {
    return stats.misses() + stats.nullBins();
  }
}
