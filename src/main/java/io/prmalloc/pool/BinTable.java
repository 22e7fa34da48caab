package io.prmalloc.pool;

import io.prmalloc.Block;
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
import java.util.concurrent.atomic.LongAdder;

/**
 * A plan made real: the arena, carved into a buffer per bin, and the way from a size to a block.
 *
 * <p>Threading: any thread; nothing in it changes but the buffers' stacks and the counters of what
 * went wrong.
 */
final class BinTable {

  // The order in which an allocation looks for a block:
  //
  //   1. its own bin: own buffer, then the buffers it may borrow from (Bin.allocate)
  //   2. the bins above, smallest first, as long as a chunk is at most `maxOversize` times the size
  // asked for
  //
  // Rehearsal goes the same way on paper. What finds nothing is counted, as a miss if the size has
  // a bin, as a null bin if not.
  // Hits are counted by the blocks.

  private final int intervalBytes;
  private final double maxOversize;
  private final Arena arena;

  /**
   * Bins of sizes up to 32 MiB by index, null where the plan has none; then the larger ones by
   * search.
   */
  private final Bin[] byIndex;

  /** All bins, smallest first. */
  private final Bin[] ascending;

  /**
   * For an index of {@link #byIndex}: where in {@link #ascending} the first bin above it stands.
   */
  private final int[] firstAbove;

  private final LongAdder misses = new LongAdder();
  private final LongAdder nullBins = new LongAdder();

  private BinTable(int intervalBytes, double maxOversize, Arena arena, Bin[] ascending) {
    this.intervalBytes = intervalBytes;
    this.maxOversize = maxOversize;
    this.arena = arena;
    this.ascending = ascending;
    this.byIndex = new Bin[LifetimePolicy.index(32L << 20, intervalBytes) + 1];
    this.firstAbove = new int[byIndex.length];
    int above = 0;
    for (Bin bin : ascending) {
      if (bin.index() < byIndex.length) {
        byIndex[bin.index()] = bin;
      }
    }
    for (int index = 0; index < byIndex.length; index++) {
      while (above < ascending.length && ascending[above].index() <= index) {
        above++;
      }
      firstAbove[index] = above;
    }
  }

  /**
   * Reserves the arena of a plan and builds the bins, largest first, so that those a bin borrows
   * from are there before it.
   *
   * @param blocks how many blocks each bin of the plan is to have, by position in the plan
   * @param maxOversize how many times the size asked for a chunk of a larger bin may be, at least 1
   * @throws io.prmalloc.OutOfNativeMemoryException if the memory is not to be had; nothing is kept
   *     then
   */
  static BinTable build(LifetimePlan plan, int[] blocks, double maxOversize, SubAllocator source) {
    List<BinPlan> bins = plan.bins();
    Arena.Layout layout = new Arena.Layout();
    List<List<Arena.Place>> places = new ArrayList<>();
    for (int position = bins.size() - 1; position >= 0; position--) {
      places.add(0, placeChunks(bins.get(position), blocks[position], layout));
    }
    Arena arena = Arena.reserve(source, layout);
    Map<Integer, Buffer> buffers = new HashMap<>();
    Bin[] ascending = new Bin[bins.size()];
    for (int position = bins.size() - 1; position >= 0; position--) {
      BinPlan bin = bins.get(position);
      Buffer own = null;
      if (!places.get(position).isEmpty()) {
        own =
            new Buffer(bin.index(), strideBytes(bin), bin.alignment(), places.get(position), arena);
        buffers.put(bin.index(), own);
      }
      Buffer[] targets =
          bin.virtualTargets().stream()
              .sorted()
              .map(buffers::get)
              .filter(target -> target != null)
              .toArray(Buffer[]::new);
      VirtualBuffer virtual = targets.length == 0 ? null : new VirtualBuffer(targets);
      ascending[position] = new Bin(bin.index(), bin.chunkBytes(), own, virtual);
    }
    return new BinTable(plan.intervalBytes(), maxOversize, arena, ascending);
  }

  private static List<Arena.Place> placeChunks(BinPlan bin, int blocks, Arena.Layout layout) {
    List<Arena.Place> places = new ArrayList<>();
    long stride = strideBytes(bin);
    if (stride > Arena.MAX_CHUNK_BYTES) {
      return places;
    }
    for (int i = 0; i < Math.min(blocks, IndexStack.MAX_CAPACITY); i++) {
      places.add(layout.place(stride, bin.alignment()));
    }
    return places;
  }

  static long strideBytes(BinPlan bin) {
    return (bin.chunkBytes() + bin.alignment() - 1) & -bin.alignment();
  }

  /** Takes a block for a request over 32 KiB, or gives null and counts why. */
  PooledBlock allocate(long totalBytes, long alignment) {
    int index = LifetimePolicy.index(totalBytes, intervalBytes);
    Bin bin = index < byIndex.length ? byIndex[index] : findLarge(index);
    if (bin != null) {
      PooledBlock block = bin.allocate(alignment);
      if (block != null) {
        return block;
      }
    }
    return allocateLarger(bin, index, totalBytes, alignment);
  }

  private Bin findLarge(int index) {
    int above = firstAboveLarge(index);
    return above > 0 && ascending[above - 1].index() == index ? ascending[above - 1] : null;
  }

  private int firstAboveLarge(int index) {
    int low = firstAbove[firstAbove.length - 1];
    int high = ascending.length;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (ascending[middle].index() <= index) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  private PooledBlock allocateLarger(Bin bin, int index, long totalBytes, long alignment) {
    long mostBytes = (long) (totalBytes * maxOversize);
    int above = index < byIndex.length ? firstAbove[index] : firstAboveLarge(index);
    for (; above < ascending.length && ascending[above].chunkBytes() <= mostBytes; above++) {
      Buffer buffer = ascending[above].own();
      PooledBlock block = buffer == null ? null : buffer.allocate(alignment);
      if (block != null) {
        return block;
      }
    }
    (bin == null ? nullBins : misses).increment();
    return null;
  }

  /** The spans of the arena, for looking up addresses. */
  List<AddressDirectory.Span> spans() {
    List<AddressDirectory.Span> spans = new ArrayList<>();
    for (MemoryRegion region : arena.regions()) {
      spans.add(new ArenaSpan(region, intervalBytes));
    }
    for (Bin bin : ascending) {
      if (bin.own() == null) {
        continue;
      }
      for (PooledBlock block : bin.own().blocks()) {
        for (AddressDirectory.Span span : spans) {
          ((ArenaSpan) span).add(block);
        }
      }
    }
    return spans;
  }

  /**
   * Which block lies where in a region of the arena: chunks begin and end at multiples of the
   * interval.
   */
  private static final class ArenaSpan implements AddressDirectory.Span {
    private final MemoryRegion region;
    private final int shift;
    private final PooledBlock[] byInterval;

    ArenaSpan(MemoryRegion region, int intervalBytes) {
      this.region = region;
      this.shift = Integer.numberOfTrailingZeros(intervalBytes);
      this.byInterval = new PooledBlock[(int) ((region.sizeBytes() - 1) >>> shift) + 1];
    }

    void add(PooledBlock block) {
      if (block.region() == region) {
        int from = block.offset() >>> shift;
        Arrays.fill(byInterval, from, from + (block.capacityBytes() >>> shift), block);
      }
    }

    @Override
    public MemoryRegion region() {
      return region;
    }

    @Override
    public Block blockAt(long offset) {
      return byInterval[(int) (offset >>> shift)];
    }
  }

  boolean retire() {
    for (int i = 0; i < ascending.length; i++) {
      Buffer buffer = ascending[i].own();
      if (buffer != null && !buffer.retire()) {
        for (int undone = 0; undone < i; undone++) {
          if (ascending[undone].own() != null) {
            ascending[undone].own().reopen();
          }
        }
        return false;
      }
    }
    return true;
  }

  /** Undoes {@link #retire}. */
  void reopen() {
    for (Bin bin : ascending) {
      if (bin.own() != null) {
        bin.own().reopen();
      }
    }
  }

  /**
   * Gives the arena back, whatever is still in use; handles on its blocks are closed from then on.
   */
  void free() {
    for (Bin bin : ascending) {
      if (bin.own() != null) {
        bin.own().retire();
        for (PooledBlock block : bin.own().blocks()) {
          block.revoke();
        }
      }
    }
    arena.free();
  }

  /** Adds up the blocks; the peak is bounded by the chunks that were ever used. */
  void addTo(PoolCounts counts) {
    for (Bin bin : ascending) {
      if (bin.own() == null) {
        continue;
      }
      for (PooledBlock block : bin.own().blocks()) {
        counts.add(block);
        if (block.uses() > 0) {
          counts.peakBytes += block.capacityBytes();
        }
      }
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
