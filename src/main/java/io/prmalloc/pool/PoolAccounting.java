package io.prmalloc.pool;

import io.prmalloc.AllocatorStats;
import io.prmalloc.Chunk;
import io.prmalloc.SubAllocator;
import io.prmalloc.internal.arena.BinTable;
import io.prmalloc.internal.arena.NullBins;
import io.prmalloc.internal.block.AddressDirectory;
import io.prmalloc.internal.block.Block;
import io.prmalloc.internal.block.PoolCounts;
import io.prmalloc.internal.extent.LiveHeap;
import io.prmalloc.internal.freelist.PooledBlock;
import io.prmalloc.internal.lifecycle.DrainingPlans;
import io.prmalloc.internal.lifecycle.Replanner;
import io.prmalloc.internal.slab.SmallBlocks;
import io.prmalloc.internal.steps.PlannedSteps;
import io.prmalloc.internal.steps.StepArena;
import io.prmalloc.lifetime.MemoryPlanner;
import java.util.Optional;
import java.util.SortedMap;
import java.util.function.Supplier;

/**
 * The accounting of a pool: its statistics, and the owner of an address.
 *
 * <p>Threading: any thread.
 */
final class PoolAccounting {

  // Nothing is recorded when memory is allocated or freed: blocks count their own uses, and know
  // the bytes of the current one. So every query walks over the blocks, or reads one.
  //
  // One moment. A walk takes time, and blocks move meanwhile. Every block's state is a counter that
  // grows with each change, and so does their sum. So if two walks find the same sum, nothing
  // changed between them, and the result of the first one is exact for the moment in which it
  // ended. If states change all the time, the last of a few walks is used: each of its figures was
  // true at some moment within the walk, and peaks are still not less than the values that they are
  // peaks of.
  //
  // Clearing. The counts of uses are never reset, so their values at the clearing are subtracted.
  //
  // Ids. An allocation gets its number when it is first asked for, from the same sequence as the
  // allocations outside the pool, which get theirs at once because they are counted anyway.

  private static final int MAX_WALKS = 8;

  private record Walk(long changes, AllocatorStats stats) {}

  private final SubAllocator source;
  private final SmallBlocks small;
  private final LiveHeap outside;
  private final PlannedSteps steps;
  private final AddressDirectory directory;
  private final Supplier<BinTable> bins;
  private final DrainingPlans retired;

  private long usesBeforeClear;

  /**
   * @param bins the bins that count, also after they were closed; gives null before there are any
   */
  PoolAccounting(
      SubAllocator source,
      SmallBlocks small,
      LiveHeap outside,
      PlannedSteps steps,
      AddressDirectory directory,
      Supplier<BinTable> bins,
      DrainingPlans retired) {
    this.source = source;
    this.small = small;
    this.outside = outside;
    this.steps = steps;
    this.directory = directory;
    this.bins = bins;
    this.retired = retired;
  }

  private PoolCounts pooled() {
    PoolCounts counts = new PoolCounts();
    small.addTo(counts);
    steps.addTo(counts);
    BinTable table = bins.get();
    retired.addTo(counts, table);
    if (table != null) {
      table.addTo(counts);
    }
    return counts;
  }

  synchronized AllocatorStats stats() {
    Walk walk = walk();
    for (int walks = 1; walks < MAX_WALKS; walks++) {
      Walk next = walk();
      if (next.changes == walk.changes) {
        break;
      }
      walk = next;
    }
    return walk.stats;
  }

  /** A number that grows with every block that is allocated or freed. */
  long changes() {
    PoolCounts counts = pooled();
    return changes(outside.changes(), counts);
  }

  private static long changes(long changesOutside, PoolCounts counts) {
    return changesOutside + 2 * counts.uses - counts.liveBlocks;
  }

  private Walk walk() {
    long changesOutside = outside.changes();
    AllocatorStats unpooled = outside.stats();
    PoolCounts counts = pooled();
    long bytesReserved = source.bytesReserved();
    long peakBytesReserved = Math.max(unpooled.peakBytesReserved(), bytesReserved);
    long bytesInUse = unpooled.bytesInUse() + counts.bytesInUse;
    long sumOfPeaks = unpooled.peakBytesInUse() + counts.peakBytes;
    AllocatorStats stats =
        new AllocatorStats(
            unpooled.numAllocs() + counts.uses - usesBeforeClear,
            bytesInUse,
            LiveHeap.peakInUse(bytesInUse, sumOfPeaks, peakBytesReserved),
            Math.max(unpooled.largestAllocSize(), counts.largestBytes),
            source.bytesLimit(),
            bytesReserved,
            peakBytesReserved);
    return new Walk(changes(changesOutside, counts), stats);
  }

  synchronized void clearStats() {
    outside.clearStats();
    small.clearPeaks();
    steps.clearPeaks();
    BinTable table = bins.get();
    if (table != null) {
      table.clearPeaks();
    }
    usesBeforeClear = pooled().uses;
  }

  PoolStats poolStats(int packedSteps) {
    PoolCounts smallCounts = new PoolCounts();
    small.addTo(smallCounts);
    PoolCounts planned = new PoolCounts();
    BinTable table = bins.get();
    retired.addTo(planned, table);
    if (table != null) {
      table.addTo(planned);
    }
    return new PoolStats(
        planned.uses,
        table == null ? 0 : table.misses(),
        table == null ? 0 : table.nullBins().sum(),
        smallCounts.uses,
        outside.totalAllocs(),
        table == null ? 0 : table.intervalBytes(),
        table == null ? 0 : table.planBytes(),
        table == null ? 0 : table.addedBlocks(),
        (table == null ? 0 : table.arenaBytes()) + retired.arenaBytes(table),
        packedSteps,
        retired.count());
  }

  PoolSnapshot snapshot(
      MemoryPlanner planner,
      Replanner replanner,
      Optional<EngineStats> engine,
      SortedMap<String, Long> planStore) {
    BinTable table = bins.get();
    AllocatorStats memory = stats();
    long discarded = outside.cleanBytes() + (table == null ? 0 : table.discardedBytes());
    return new PoolSnapshot(
        memory,
        Math.max(0, memory.bytesReserved() - discarded),
        poolStats(planner.packedSteps()),
        NullBins.bySize(table == null ? null : table.nullBins()),
        steps.stats(),
        planner.phase(),
        (long) planner.failures() + replanner.failures(),
        replanner.lastFailure().or(planner::lastFailure),
        engine,
        planStore);
  }

  /** Allocated bytes. */
  long bytesInUse() {
    return pooled().bytesInUse + outside.stats().bytesInUse();
  }

  /** The exception to throw if the pool is to be closed while memory is allocated. */
  IllegalStateException stillInUse() {
    PoolCounts counts = pooled();
    return new IllegalStateException(
        "allocator "
            + TensorPoolAllocator.NAME
            + " still has "
            + (counts.liveBlocks + outside.liveBlocks())
            + " allocations of "
            + (counts.bytesInUse + outside.stats().bytesInUse())
            + " bytes in use; closeForcibly() takes them away");
  }

  /** The exception to throw if an address is not allocated. */
  static IllegalArgumentException notOurs(long address) {
    return new IllegalArgumentException(
        "address 0x"
            + Long.toHexString(address)
            + " is not one that "
            + TensorPoolAllocator.NAME
            + " gave out and has not got back");
  }

  /**
   * What is known of the memory at an address.
   *
   * @throws IllegalArgumentException if it is not allocated
   */
  Chunk chunkAt(long address) {
    Block block = blockAt(address);
    Chunk chunk =
        block instanceof PooledBlock pooled ? chunkOf(pooled, address) : outside.chunkAt(address);
    if (chunk == null) {
      StepArena.PlannedBlock planned = steps.blockAt(address);
      chunk = planned == null ? null : planned.chunk(outside::nextId);
    }
    if (chunk == null) {
      throw notOurs(address);
    }
    return chunk;
  }

  /**
   * {@link LiveHeap#usableBytesAt} of memory outside; of pooled memory, all of its block.
   *
   * @throws IllegalArgumentException if it is not allocated
   */
  long usableBytesAt(long address) {
    long bytes = outside.usableBytesAt(address);
    return bytes > 0 ? bytes : chunkAt(address).allocatedBytes();
  }

  /** The block of arena or slab in which an address lies, or null. */
  private Block blockAt(long address) {
    if (!directory.isEnabled()) {
      directory.enable();
    }
    BinTable table = bins.get();
    Block block = table == null ? null : table.find(address);
    if (block == null) {
      block = retired.find(address);
    }
    return block != null ? block : directory.find(address);
  }

  private Chunk chunkOf(PooledBlock block, long address) {
    long stamp = block.stamp();
    int header = block.headerBytes();
    long bytes = block.bytesIn(stamp);
    return bytes < 0 || address != block.startAddress() + header
        ? null
        : new Chunk(bytes, block.capacityBytes(), block.idOf(stamp, outside::nextId));
  }
}
