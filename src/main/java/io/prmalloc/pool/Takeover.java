package io.prmalloc.pool;

import io.prmalloc.RegionHeap;
import io.prmalloc.SubAllocator;
import io.prmalloc.jfr.FlightEvents;
import io.prmalloc.lifetime.LifetimePlan;
import io.prmalloc.os.MemoryRegion;
import io.prmalloc.os.OperatingSystem;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

/**
 * How a plan's arena takes over from the memory that warm-up was served from, with little more in
 * memory than one of them at a time.
 *
 * <p>Threading: the planner's executor, but for what is said of each method.
 */
final class Takeover {

  // Three things would keep a second pool's worth of memory beside the first:
  //
  //   1. What warm-up gave back. The C library keeps it, for sizes that nobody will ask for again.
  //      It is asked to trim its heap before the arena is reserved, and again when it is, for
  //      that takes as long as some steps do.
  //   2. The arena, if its source writes every page while the current steps are still served
  //      outside (direct buffers are zeroed by the JVM). Then it is reserved in pieces, and each is
  //      discarded before the next is taken: it comes back page by page as it is used, while the
  //      tensors outside go.
  //   3. What those steps give back. The heap is trimmed again each time an eighth of the arena's
  //      size is back.
  //
  // When the last tensor from before is back, the arena is made resident, so that a block that is
  // first used much later finds its pages there.
  //
  // Where native calls are out of reach, or would make the JVM print a warning, the arena is
  // reserved in one piece and stays; the peak is then the arena and what is in flight.

  private static final Logger LOGGER = System.getLogger(Takeover.class.getName());

  /** One piece, and so the most that is in memory twice, is this part of the arena. */
  private static final int PIECES = 8;

  /** Less than this is not worth the trouble. */
  private static final long MIN_BYTES = 32L << 20;

  private final SubAllocator source;
  private final RegionHeap outside;
  private final Executor executor;
  private boolean discarded;
  private long reserveNanos;

  Takeover(SubAllocator source, RegionHeap outside, Executor executor) {
    this.source = source;
    this.outside = outside;
    this.executor = executor;
  }

  /**
   * Reserves the arena.
   *
   * @param plan what is to be served
   * @param blocks how many blocks each bin of the plan is to have, by position in the plan
   * @param maxOversize as in {@link BinTable#build}
   * @throws io.prmalloc.OutOfNativeMemoryException if the memory is not to be had; nothing is kept
   *     then
   */
  BinTable reserve(LifetimePlan plan, int[] blocks, double maxOversize) {
    OperatingSystem.trimHeap();
    long start = System.nanoTime();
    long bytes = BinTable.chunkBytes(plan, blocks);
    discarded =
        source.isResident()
            && !source.isGuarded()
            && bytes >= MIN_BYTES
            && OperatingSystem.callsNativeSilently();
    Arena.Layout layout =
        discarded
            ? new Arena.Layout(bytes / PIECES, plan.intervalBytes(), outside.isolation())
            : new Arena.Layout(mostRegionBytes(), 1, outside.isolation());
    BinTable table =
        BinTable.build(
            plan,
            blocks,
            maxOversize,
            source,
            layout,
            discarded ? Takeover::discard : region -> {});
    reserveNanos = System.nanoTime() - start;
    OperatingSystem.trimHeap();
    return table;
  }

  /** Guard pages are around regions, so each block has one of its own. */
  private long mostRegionBytes() {
    return source.isGuarded() ? 0 : Arena.MAX_CHUNK_BYTES;
  }

  private static void discard(MemoryRegion region) {
    try {
      region.discard(0, region.sizeBytes());
    } catch (IllegalStateException refused) {
      // Locked memory, say: then it is resident because somebody wants it so.
      LOGGER.log(Level.DEBUG, "a piece of the arena stays in memory", refused);
    }
  }

  /**
   * Sees to what is left outside; called when the table serves.
   *
   * @param arenaBytes size of what {@link #reserve} made
   * @param populate makes the arena resident, if it is still there
   */
  void finish(long arenaBytes, Runnable populate) {
    FlightEvents.switchOver(arenaBytes, reserveNanos);
    long step = Math.max(MIN_BYTES, arenaBytes) / PIECES;
    outside.watchDrain(step, all -> drained(all, populate));
  }

  // By the thread that gives memory back, and not in the background: there it would come late,
  // while this thread fills the arena. Takes some milliseconds, nine times in a pool's life.
  private void drained(boolean all, Runnable populate) {
    OperatingSystem.trimHeap();
    if (all && discarded) {
      later(populate);
    }
  }

  private void later(Runnable task) {
    try {
      executor.execute(task);
    } catch (RejectedExecutionException shuttingDown) {
      LOGGER.log(Level.DEBUG, "the executor refused to make the arena resident", shuttingDown);
    }
  }
}
