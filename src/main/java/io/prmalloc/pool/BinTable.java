package io.prmalloc.pool;

import io.prmalloc.SubAllocator;
import io.prmalloc.lifetime.LifetimePlan;
import io.prmalloc.lifetime.LifetimePlan.BinPlan;
import io.prmalloc.lifetime.LifetimePolicy;
import io.prmalloc.os.MemoryRegion;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;

/**
 * A plan made real: the arena, carved into a buffer per bin, and the way from a size to a block.
 *
 * <p>Threading: any thread; nothing in it changes but the buffers' stacks and the counters of what
 * went wrong.
 */
final class BinTable {

  // The order in which an allocation looks for a block:
  //
  //   1. its own bin: own buffer, then the buffers it may borrow from (candidates)
  //   2. the bins above, smallest first, as long as a chunk is at most `maxOversize` times the
  //      size asked for (allocateSlowly)
  //
  // Rehearsal goes the same way on paper. What finds nothing is counted, as a miss if the size has
  // a bin, as a null bin if not. Hits are counted by the blocks.

  private static final long LARGE_BYTES = 32L << 20;

  private final int intervalBytes;
  private final double maxOversize;
  private final Arena arena;

  /** All bins, smallest first. */
  private final Bin[] ascending;

  /** {@link Bin#candidates} of the bins of up to 32 MiB, by index; null where there is no bin. */
  private final Candidate[] candidatesByIndex;

  /** Made when the first address is looked up, for that needs the regions' addresses. */
  private volatile ArenaSpan[] spans;

  private final LongAdder misses = new LongAdder();
  private final LongAdder nullBins = new LongAdder();

  private BinTable(int intervalBytes, double maxOversize, Arena arena, Bin[] ascending) {
    this.intervalBytes = intervalBytes;
    this.maxOversize = maxOversize;
    this.arena = arena;
    this.ascending = ascending;
    this.candidatesByIndex = new Candidate[LifetimePolicy.index(LARGE_BYTES, intervalBytes) + 1];
    for (Bin bin : ascending) {
      if (bin.index() < candidatesByIndex.length) {
        candidatesByIndex[bin.index()] = bin.candidates();
      }
    }
  }

  /**
   * Reserves the arena of a plan and builds the bins, largest first, so that those a bin borrows
   * from are there before it.
   *
   * @param blocks how many blocks each bin of the plan is to have, by position in the plan
   * @param maxOversize how many times the size asked for a chunk of a larger bin may be, at least 1
   * @param layout empty, to be filled
   * @param each told of every region as soon as it is there
   * @throws io.prmalloc.OutOfNativeMemoryException if the memory is not to be had; nothing is kept
   *     then
   */
  static BinTable build(
      LifetimePlan plan,
      int[] blocks,
      double maxOversize,
      SubAllocator source,
      Arena.Layout layout,
      Consumer<MemoryRegion> each) {
    int bins = plan.bins().size();
    Arena.Place[][] places = new Arena.Place[bins][];
    for (int position = bins - 1; position >= 0; position--) {
      places[position] = placeChunks(plan.bins().get(position), blocks[position], layout);
    }
    Arena arena = Arena.reserve(source, layout, each);
    Map<Integer, Buffer> buffers = new HashMap<>();
    Bin[] ascending = new Bin[bins];
    for (int position = bins - 1; position >= 0; position--) {
      BinPlan bin = plan.bins().get(position);
      Buffer own = null;
      if (places[position].length > 0) {
        int alignment = (int) bin.alignment();
        own = new Buffer(bin.index(), strideBytes(bin), alignment, places[position], arena);
        buffers.put(bin.index(), own);
      }
      ascending[position] = new Bin(bin.index(), bin.chunkBytes(), own, virtual(bin, buffers));
    }
    return new BinTable(plan.intervalBytes(), maxOversize, arena, ascending);
  }

  /** About how many bytes {@link #build} reserves. */
  static long chunkBytes(LifetimePlan plan, int[] blocks) {
    long bytes = 0;
    for (int position = 0; position < blocks.length; position++) {
      bytes += strideBytes(plan.bins().get(position)) * blocks[position];
    }
    return bytes;
  }

  private static Arena.Place[] placeChunks(BinPlan bin, int blocks, Arena.Layout layout) {
    long stride = strideBytes(bin);
    boolean fits = Arena.fits(stride, bin.alignment());
    Arena.Place[] places = new Arena.Place[fits ? Math.min(blocks, IndexStack.MAX_CAPACITY) : 0];
    for (int i = 0; i < places.length; i++) {
      places[i] = layout.place(stride, bin.alignment());
    }
    return places;
  }

  private static long strideBytes(BinPlan bin) {
    return (bin.chunkBytes() + bin.alignment() - 1) & -bin.alignment();
  }

  private static VirtualBuffer virtual(BinPlan bin, Map<Integer, Buffer> buffers) {
    return new VirtualBuffer(
        bin.virtualTargets().stream().sorted().map(buffers::get).filter(Objects::nonNull).toList());
  }

  /** Where a request over 32 KiB looks first: in its bin, if that is one of the array's. */
  Candidate candidates(long totalBytes) {
    int index = LifetimePolicy.index(totalBytes, intervalBytes);
    return index < candidatesByIndex.length ? candidatesByIndex[index] : null;
  }

  /** Takes a block from the request's own bin or the bins above, or gives null. */
  PooledBlock allocateSlowly(long totalBytes, int alignment) {
    int index = LifetimePolicy.index(totalBytes, intervalBytes);
    int position = firstAtLeast(index);
    if (hasBin(position, index)) {
      PooledBlock block = Candidate.allocate(ascending[position++].candidates(), alignment);
      if (block != null) {
        return block;
      }
    }
    long most = (long) (totalBytes * maxOversize);
    while (position < ascending.length && ascending[position].chunkBytes() <= most) {
      Buffer own = ascending[position++].own();
      PooledBlock block = own == null ? null : own.allocate(alignment);
      if (block != null) {
        return block;
      }
    }
    return null;
  }

  /** Counts a request that found nothing here and was served elsewhere. */
  void countUnserved(long totalBytes) {
    int index = LifetimePolicy.index(totalBytes, intervalBytes);
    (hasBin(firstAtLeast(index), index) ? misses : nullBins).increment();
  }

  private boolean hasBin(int position, int index) {
    return position < ascending.length && ascending[position].index() == index;
  }

  /** Position of the first bin with this index or a higher one. */
  private int firstAtLeast(int index) {
    int low = 0;
    int high = ascending.length;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (ascending[middle].index() < index) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  /**
   * The block that contains an address, or null if it is not in the arena or its block was never
   * taken.
   */
  PooledBlock find(long address) {
    ArenaSpan[] known = spans;
    for (ArenaSpan span : known != null ? known : findSpans()) {
      PooledBlock block = span.find(address);
      if (block != null) {
        return block;
      }
    }
    return null;
  }

  /** Two threads may do it at the same time, and come to the same result. */
  private ArenaSpan[] findSpans() {
    List<PooledBlock> blocks =
        buffers().stream().flatMap(buffer -> Arrays.stream(buffer.blocks())).toList();
    ArenaSpan[] made = ArenaSpan.over(arena.regions(), blocks, intervalBytes);
    // Release: publishes the tables; its acquire is the volatile read in find.
    spans = made;
    return made;
  }

  private List<Buffer> buffers() {
    return Arrays.stream(ascending).map(Bin::own).filter(Objects::nonNull).toList();
  }

  /** Closes all buffers if all blocks are home; else nothing has changed. */
  boolean retire() {
    List<Buffer> retired = new ArrayList<>();
    for (Buffer buffer : buffers()) {
      if (!buffer.retire()) {
        retired.forEach(Buffer::reopen);
        return false;
      }
      retired.add(buffer);
    }
    return true;
  }

  /** Undoes {@link #retire}. */
  void reopen() {
    buffers().forEach(Buffer::reopen);
  }

  /**
   * Gives the arena back, whatever is still in use; handles on its blocks are closed from then on.
   */
  void free() {
    buffers().forEach(Buffer::revokeAll);
    arena.free();
  }

  /** Makes the arena resident as far as the system does so. */
  void populate() {
    arena.populate();
  }

  /** Adds up the blocks; a bin's share of the peak is the chunks that were ever taken. */
  void addTo(PoolCounts counts) {
    for (Buffer buffer : buffers()) {
      buffer.addTo(counts);
      counts.peakBytes += buffer.blocksUsed() * buffer.strideBytes();
    }
  }

  Bin[] bins() {
    return ascending;
  }

  int intervalBytes() {
    return intervalBytes;
  }

  long arenaBytes() {
    return arena.bytes();
  }

  long misses() {
    return misses.sum();
  }

  long nullBins() {
    return nullBins.sum();
  }
}
