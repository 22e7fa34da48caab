package io.prmalloc.internal.lifecycle;

import io.prmalloc.AllocatorStats;
import io.prmalloc.MemoryRegion;
import io.prmalloc.OutOfNativeMemoryException;
import io.prmalloc.SubAllocator;
import io.prmalloc.internal.arena.Arena;
import io.prmalloc.internal.arena.BinTable;
import io.prmalloc.internal.block.SafeLog;
import io.prmalloc.internal.extent.LiveHeap;
import io.prmalloc.internal.extent.SourceBesideHeap;
import io.prmalloc.internal.jfr.FlightEvents;
import io.prmalloc.internal.os.OperatingSystem;
import io.prmalloc.lifetime.LifetimePlan;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.concurrent.Executor;

/**
 * Replaces the memory of the warm-up by a plan's arena piece by piece, so that little more is
 * resident at any time than one of the two needs.
 *
 * <p>Threading: for one switch-over, by the thread that makes it, under the lifecycle's lock: the
 * planner's executor, or a thread that builds the pool or takes a shared plan. Memory that drains
 * later is trimmed on the executor.
 */
public final class SwitchOverMemory {

  // Three things would keep a second pool's worth of memory beside the first:
  //
  //   1. Memory that warm-up gave back. The live heap keeps it, and the C library keeps what the
  //      live heap gave back. Both are trimmed before the arena is reserved, after it is reserved
  //      (which takes as long as some steps), and when it serves.
  //   2. The arena, if its source writes every page while the current steps are still served
  //      outside (direct buffers are zeroed by the JVM). Then it is reserved in pieces, and each is
  //      discarded before the next is taken: its pages become resident again one by one as they are
  //      used, while the tensors outside are freed.
  //   3. Memory of those steps: the pages of each of their tensors are given back when it is freed.
  //      Memory that is kept beside them is trimmed each time an eighth of the arena's size is
  //      freed.
  //
  // When the last tensor from before is freed, the arena is made resident, so that a block that is
  // first used much later finds its pages in memory.
  //
  // Under a limit there would be no room for both. There the arena is one of many small regions,
  // each reserved when a request needs a block of it, and given back when another request would be
  // refused otherwise (see Reclaim). While it is filled, steps are served from both, and memory
  // that they do not use outside is given back each time an eighth of the arena is filled.
  //
  // Where native calls are out of reach, or would make the JVM print a warning, the arena is
  // reserved in one piece and stays; the peak is then the arena and what is in flight.

  private static final Logger LOGGER = SafeLog.logger(SwitchOverMemory.class);

  /** One piece, and so the most that is in memory twice, is this part of the arena. */
  private static final int PIECES = 8;

  /** Less than this is not worth the trouble. */
  private static final long MIN_BYTES = 32L << 20;

  /** A limit that leaves room for fewer arenas than this is in reach. */
  private static final int FAR_ARENAS = 4;

  /** The tables of a plan may have this part of the Java heap. */
  private static final int HEAP_PART = 2;

  /** Under a limit, chunks that are smaller share a region of so many bytes. */
  private static final long MIN_PART_BYTES = 128L << 10;

  /** There are not many more regions than this for chunks that share them. */
  private static final int MAX_PARTS = 1024;

  private final SubAllocator source;
  private final LiveHeap outside;
  private final Executor executor;
  private final CgroupCheck cgroup;
  private boolean discarded;
  private long planBytes;
  private long filledBytes;
  private long reserveNanos;

  public SwitchOverMemory(
      SubAllocator source, LiveHeap outside, Executor executor, CgroupCheck cgroup) {
    this.source = source;
    this.outside = outside;
    this.executor = executor;
    this.cgroup = cgroup;
  }

  /**
   * Makes the table of a plan, with all of its memory if no limit is in reach, else with none. Then
   * each block gets its memory when the first request needs it, or from {@link #fill}: so a plan
   * takes over what warm-up used, block by block, and holds nothing that a request could have had.
   *
   * @param plan what is to be served
   * @param blocks how many blocks each bin of the plan is to have, by position in the plan
   * @param maxOversize as in {@link BinTable#build}
   */
  public BinTable prepare(LifetimePlan plan, int[] blocks, double maxOversize) {
    if (outside.liveBlocks() == 0 && !outside.purgesFree()) {
      outside.releaseUnused();
    }
    trimOutside();
    long bytes = BinTable.chunkBytes(plan, blocks);
    planBytes = bytes;
    cgroup.check(source.bytesReserved() + bytes, "what is reserved and a plan's arena, together");
    discarded =
        source.isResident()
            && !source.isGuarded()
            && bytes >= MIN_BYTES
            && OperatingSystem.callsNativeSilently();
    if (isLimitInReach(bytes)) {
      return lacking(plan, blocks, maxOversize, bytes);
    }
    Arena.Layout layout =
        discarded
            ? new Arena.Layout(bytes / PIECES, plan.intervalBytes(), outside.isolation())
            : new Arena.Layout(mostRegionBytes(), 1, outside.isolation());
    long start = System.nanoTime();
    try {
      return BinTable.build(plan, blocks, maxOversize, source, layout, this::discard);
    } catch (OutOfNativeMemoryException refused) {
      SafeLog.log(
          LOGGER, Level.INFO, "no memory for a whole plan, which now gets it by and by", refused);
      return lacking(plan, blocks, maxOversize, bytes);
    } finally {
      reserveNanos = System.nanoTime() - start;
      trimOutside();
    }
  }

  /** Whether requests may be refused later because the arena has the memory that they need. */
  private boolean isLimitInReach(long bytes) {
    return source.bytesLimit().isPresent() || source.bytesAvailable() / FAR_ARENAS < bytes;
  }

  private BinTable lacking(LifetimePlan plan, int[] blocks, double maxOversize, long bytes) {
    long most = source.isGuarded() ? 0 : Math.max(MIN_PART_BYTES, bytes / MAX_PARTS);
    Arena.Layout layout = new Arena.Layout(most, plan.intervalBytes(), outside.isolation());
    return BinTable.buildLacking(plan, blocks, maxOversize, source, layout);
  }

  /**
   * Reserves what a table lacks, as far as that leaves enough for as many bytes to be outside at a
   * time as ever were. How many these were is known as a bound, which is never over what was
   * reserved; so it may leave more than enough.
   */
  public void fill(BinTable table) {
    AllocatorStats stats = outside.stats();
    try {
      fill(table, stats.peakBytesInUse() - stats.bytesInUse());
    } catch (OutOfNativeMemoryException refused) {
      SafeLog.log(LOGGER, Level.DEBUG, "a part of the plan has no memory yet", refused);
    }
  }

  private boolean fill(BinTable table, long headroomBytes) {
    long start = System.nanoTime();
    try {
      return table.fill(headroomBytes, this::filled);
    } finally {
      reserveNanos += System.nanoTime() - start;
      outside.noteReserved();
    }
  }

  /**
   * {@link #prepare} of a plan that is to have all of its memory at once.
   *
   * @throws OutOfNativeMemoryException if the memory cannot be reserved; nothing is kept then
   */
  public BinTable reserve(LifetimePlan plan, int[] blocks, double maxOversize) {
    long bytes = BinTable.chunkBytes(plan, blocks);
    // Before numbers from an untrusted source are used.
    if (bytes > source.bytesAvailable()) {
      throw SourceBesideHeap.refusal(source, bytes);
    }
    checkHeap(BinTable.heapBytes(plan, blocks));
    BinTable table = prepare(plan, blocks, maxOversize);
    boolean complete = false;
    try {
      complete = fill(table, 0);
    } finally {
      if (!complete) {
        table.free();
      }
    }
    if (!complete) {
      throw SourceBesideHeap.refusal(source, bytes);
    }
    return table;
  }

  /**
   * Refuses a plan whose tables leave no heap for what they are to serve.
   *
   * @throws IllegalStateException if so; nothing was taken then
   */
  private static void checkHeap(long needed) {
    long most = Runtime.getRuntime().maxMemory() / HEAP_PART;
    if (needed > most) {
      throw new IllegalStateException(
          "the plan's blocks and size classes need "
              + needed
              + " bytes of the Java heap, not from 0 to "
              + most
              + ": start the JVM with a larger -Xmx");
    }
  }

  /** Guard pages are around regions, so each block has one of its own. */
  private long mostRegionBytes() {
    return source.isGuarded() ? 0 : Arena.MAX_CHUNK_BYTES;
  }

  /**
   * Steps continue meanwhile, partly from outside: memory that they do not use there is given back,
   * piece by piece.
   */
  private void filled(MemoryRegion region) {
    discard(region);
    filledBytes += region.sizeBytes();
    if (filledBytes >= pieceBytes()) {
      filledBytes = 0;
      trimOutside();
    }
  }

  private long pieceBytes() {
    return Math.max(MIN_BYTES, planBytes) / PIECES;
  }

  private void discard(MemoryRegion region) {
    if (!discarded) {
      return;
    }
    try {
      region.discard(0, region.sizeBytes());
    } catch (IllegalStateException refused) {
      // A cause is locked memory, which is to stay resident.
      SafeLog.log(LOGGER, Level.DEBUG, "a piece of the arena stays in memory", refused);
    }
  }

  /**
   * Trims memory that is left outside; called as soon as the table serves.
   *
   * @param populate makes the arena resident, if it is still there
   */
  public void drain(Runnable populate) {
    int mark = outside.mark();
    outside.watchDrain(pieceBytes(), all -> drained(all, mark, populate));
    trimOutside();
  }

  /**
   * Reports the switch-over; called when the table has its memory.
   *
   * @param arenaBytes what the table has by now
   */
  public void finish(long arenaBytes) {
    FlightEvents.switchOver(arenaBytes, reserveNanos);
  }

  /** In the background: no user's close waits while memory is given back to the system. */
  private void drained(boolean all, int mark, Runnable populate) {
    later(
        () -> {
          outside.releaseUnusedSince(mark);
          trimOutside();
          if (all && discarded) {
            populate.run();
          }
        });
  }

  /** The regions stay while a step is served from them, or they would be written anew. */
  private void trimOutside() {
    outside.purgeFree();
    OperatingSystem.trimHeap();
  }

  private void later(Runnable task) {
    try {
      executor.execute(task);
    } catch (Throwable shuttingDown) {
      SafeLog.log(
          LOGGER, Level.DEBUG, "the executor refused to trim what warm-up left", shuttingDown);
    }
  }
}
