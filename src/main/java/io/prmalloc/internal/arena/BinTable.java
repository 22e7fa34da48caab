package io.prmalloc.internal.arena;

import io.prmalloc.Allocator;
import io.prmalloc.MemoryRegion;
import io.prmalloc.OutOfNativeMemoryException;
import io.prmalloc.SubAllocator;
import io.prmalloc.internal.block.PoolCounts;
import io.prmalloc.internal.block.Retirable;
import io.prmalloc.internal.block.SafeLog;
import io.prmalloc.internal.block.Stripes;
import io.prmalloc.internal.freelist.ChunkIndex;
import io.prmalloc.internal.freelist.FreeIndex;
import io.prmalloc.internal.freelist.PooledBlock;
import io.prmalloc.internal.jfr.FlightEvents;
import io.prmalloc.kept.KeptPool;
import io.prmalloc.lifetime.LifetimePlan;
import io.prmalloc.lifetime.LifetimePlan.BinPlan;
import io.prmalloc.lifetime.LifetimePolicy;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The memory of a plan: the arena, carved into a buffer for each bin, and the lookup from a size to
 * a block.
 *
 * <p>Threading: any thread. Mutable are the states of blocks, the bits of free blocks, and the
 * counters of misses. The holder of the pool's lifecycle lock may also add blocks to bins, and
 * remove or replace the memory of a block.
 */
public final class BinTable implements Retirable {

  // The order in which an allocation looks for a block:
  //
  //   1. what is noted for this stripe of its own bin, then of those it may borrow from
  //      (FreeIndex.removeFirst), the common case
  //   2. its own bin: what is noted for other stripes; then likewise the buffers it may borrow from
  //   3. the bins above, smallest first, as long as a chunk is at most `maxOversize` times the
  //      size asked for
  //   4. the same buffers again, but asking the blocks, because one may be free and not noted
  //      (see FreeIndex)
  //   5. what bins got later (see Growth), however large
  //   6. blocks without memory, which then get some (see Growth)
  //
  // Rehearsal goes the same way on paper. What finds nothing is counted, as a miss if the size has
  // a bin, as a null bin if not. Hits are counted by the blocks.
  //
  // A size class is found from a size by a subtraction and a shift, and what it may have by the
  // class's number, up to 32 MiB. The few bins above are served on the slower way.

  private static final Logger LOGGER = SafeLog.logger(BinTable.class);

  private static final long LARGE_BYTES = 32L << 20;

  /** What every chunk is aligned to at least, so that the common request need not ask. */
  public static final int MIN_ALIGNMENT = (int) Allocator.DEFAULT_ALIGNMENT;

  // What things have on the heap, at most.

  /** A block with its view and its place. */
  private static final int BLOCK_HEAP_BYTES = 512;

  /** A word of a {@link FreeIndex}, local and remote. */
  private static final int WORD_HEAP_BYTES = 256;

  /** What a size class has beside what each stripe knows of it. */
  private static final int CLASS_HEAP_BYTES = 24;

  private static final int REFERENCE_BYTES = 8;

  private final int intervalBytes;
  private final LifetimePlan plan;
  private final int[] blocks;
  private final int addedBlocks;
  private final double maxOversize;
  private volatile long loadBytes;
  private final Arena arena;

  /** All bins, smallest first. */
  private final Bin[] ascending;

  private final ChunkIndex index;

  /** Takes what is at hand. Made once, for to make it costs heap. */
  private final Function<Buffer, PooledBlock> noted;

  private final GrownBlocks grown = new GrownBlocks();

  // A block is found by its address before it can be taken, and until it cannot be taken any more.
  // So the spans are dropped when a region has come and its blocks are still claimed, or when the
  // blocks of a region that goes are. Whoever looks up an address next makes them anew, under a
  // lock of their own: it does not wait while memory is reserved.

  /**
   * Made when the first address is looked up, for that needs the regions' addresses. Made and
   * dropped under the lock.
   */
  private volatile ArenaSpan[] spans;

  /** Held while regions come and go, and not while memory is reserved. */
  private final Object spansLock = new Object();

  private LongAdder misses = new LongAdder();
  private NullBins nullBins = new NullBins();

  private BinTable(
      LifetimePlan plan,
      int[] blocks,
      int addedBlocks,
      double maxOversize,
      Arena arena,
      Bin[] ascending,
      int directClasses) {
    this.intervalBytes = plan.intervalBytes();
    this.plan = plan;
    this.blocks = blocks;
    this.addedBlocks = addedBlocks;
    this.maxOversize = maxOversize;
    this.arena = arena;
    this.ascending = ascending;
    this.index =
        new ChunkIndex(
            directClasses,
            Integer.numberOfTrailingZeros(intervalBytes),
            arena.isolation().roomBytes(),
            blocks(),
            plan.concurrentSteps(),
            Stripes.many());
    // Of several the stripes' words are asked, though to ask a few blocks takes less by itself: to
    // look at a block is to fetch a cache line that its owner is about to write.
    this.noted =
        buffer ->
            buffer.isSingle()
                ? buffer.claimSingle()
                : index.takeFromAny(buffer.firstNumber(), buffer.count());
    for (Bin bin : ascending) {
      List<PooledBlock> candidates =
          Arrays.stream(bin.buffers()).flatMap(buffer -> buffer.blocks().stream()).toList();
      if (bin.index() < directClasses && !candidates.isEmpty()) {
        index.serve(bin.index(), bin.buffers()[0].count(), candidates);
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
   * @throws io.prmalloc.OutOfNativeMemoryException if the memory is not available; nothing is kept
   *     then
   */
  public static BinTable build(
      LifetimePlan plan,
      int[] blocks,
      double maxOversize,
      SubAllocator source,
      Arena.Layout layout,
      Consumer<MemoryRegion> each) {
    return build(plan, blocks, maxOversize, layout, full -> Arena.reserve(source, full, each));
  }

  /**
   * {@link #build} without memory: none of the blocks has any until {@link #fill} or {@link #back}.
   */
  public static BinTable buildLacking(
      LifetimePlan plan,
      int[] blocks,
      double maxOversize,
      SubAllocator source,
      Arena.Layout layout) {
    return build(plan, blocks, maxOversize, layout, full -> Arena.lacking(source, full));
  }

  private static BinTable build(
      LifetimePlan plan,
      int[] blocks,
      double maxOversize,
      Arena.Layout layout,
      Function<Arena.Layout, Arena> reserver) {
    int bins = plan.bins().size();
    Arena.Place[][] places = new Arena.Place[bins][];
    for (int position = bins - 1; position >= 0; position--) {
      places[position] = placeChunks(plan.bins().get(position), blocks[position], layout);
    }
    Arena arena = reserver.apply(layout);
    try {
      return build(plan, blocks, maxOversize, places, arena);
    } catch (Throwable e) {
      arena.free();
      throw e;
    }
  }

  private static BinTable build(
      LifetimePlan plan, int[] blocks, double maxOversize, Arena.Place[][] places, Arena arena) {
    int bins = plan.bins().size();
    int directClasses = directClasses(plan);
    Map<Integer, Buffer> buffers = new HashMap<>();
    Bin[] ascending = new Bin[bins];
    for (int position = bins - 1; position >= 0; position--) {
      BinPlan bin = plan.bins().get(position);
      Buffer own = null;
      if (places[position].length > 0) {
        int alignment = (int) alignment(bin);
        own = new Buffer(bin.index(), strideBytes(bin), alignment, places[position], arena);
        buffers.put(bin.index(), own);
      }
      ascending[position] = new Bin(bin.index(), bin.chunkBytes(), own, virtual(bin, buffers));
    }
    int planned = plan.bins().stream().mapToInt(BinPlan::blocks).sum();
    int added = Arrays.stream(blocks).sum() - planned;
    return new BinTable(plan, blocks.clone(), added, maxOversize, arena, ascending, directClasses);
  }

  private static int directClasses(LifetimePlan plan) {
    int most = LifetimePolicy.index(LARGE_BYTES, plan.intervalBytes());
    return 1 + plan.bins().stream().mapToInt(BinPlan::index).filter(i -> i <= most).max().orElse(0);
  }

  /** About how many bytes {@link #build} reserves. */
  public static long chunkBytes(LifetimePlan plan, int[] blocks) {
    long bytes = 0;
    for (int position = 0; position < blocks.length; position++) {
      bytes += strideBytes(plan.bins().get(position)) * blocks[position];
    }
    return bytes;
  }

  /**
   * About how many bytes of the Java heap {@link #build} needs, and not less: known before anything
   * is made, for the numbers of a plan may have come from anywhere.
   */
  public static long heapBytes(LifetimePlan plan, int[] blocks) {
    long all = Arrays.stream(blocks).asLongStream().sum();
    long stripes = Stripes.many().count();
    // Of each bin the blocks that it may have are a bit each, and it may begin with a word of its
    // own.
    long words = all / Long.SIZE + blocks.length + 1;
    long classes = directClasses(plan);
    return all * BLOCK_HEAP_BYTES
        + words * (stripes * WORD_HEAP_BYTES + blocks.length * (long) Long.BYTES)
        + classes * (stripes * REFERENCE_BYTES + CLASS_HEAP_BYTES);
  }

  private static Arena.Place[] placeChunks(BinPlan bin, int blocks, Arena.Layout layout) {
    long stride = strideBytes(bin);
    boolean fits = Arena.fits(stride, alignment(bin));
    Arena.Place[] places = new Arena.Place[fits ? blocks : 0];
    for (int i = 0; i < places.length; i++) {
      places[i] = layout.place(stride, alignment(bin));
    }
    return places;
  }

  private static long alignment(BinPlan bin) {
    return Math.max(bin.alignment(), MIN_ALIGNMENT);
  }

  /** From one block of a bin to the next. */
  public static long strideBytes(BinPlan bin) {
    return (bin.chunkBytes() + alignment(bin) - 1) & -alignment(bin);
  }

  private static VirtualBuffer virtual(BinPlan bin, Map<Integer, Buffer> buffers) {
    return new VirtualBuffer(
        bin.virtualTargets().stream().sorted().map(buffers::get).filter(Objects::nonNull).toList());
  }

  /**
   * The size class of a request.
   *
   * @param totalBytes the size, header included, over {@link LifetimePolicy#SMALL_BYTES}
   */
  int index(long totalBytes) {
    return index.sizeClass(totalBytes);
  }

  /** Where a thread looks first. */
  public ChunkIndex freeIndex() {
    return index;
  }

  /**
   * Takes what is noted for this thread, or gives null.
   *
   * @param totalBytes as {@link #index}; the alignment wanted is at most {@link #MIN_ALIGNMENT}
   */
  public PooledBlock take(long totalBytes) {
    PooledBlock block = index.take(totalBytes);
    return block != null ? block : index.takeFurther(totalBytes);
  }

  /** Takes a block from the request's own bin or the bins it may use, or gives null. */
  public PooledBlock takeSlowly(long totalBytes, int alignment) {
    // What has no bin is nothing to have a share for.
    boolean known = binOf(totalBytes) != null;
    boolean given = known && index.giveShare(false);
    PooledBlock block = given && alignment <= MIN_ALIGNMENT ? take(totalBytes) : null;
    if (block == null) {
      block = takeSlowly(totalBytes, alignment, noted);
    }
    while (block == null && known && index.giveShare(true)) {
      block = takeSlowly(totalBytes, alignment, noted);
    }
    if (block == null) {
      block = takeSlowly(totalBytes, alignment, Buffer::claimAny);
    }
    return block != null
        ? block
        : grown.take(totalBytes + arena.isolation().roomBytes(), alignment);
  }

  /**
   * Takes the smallest block that is free and has room, in whatever bin, or gives null: for a
   * request that is refused otherwise.
   *
   * @param totalBytes the size, header included; any
   */
  public PooledBlock takeAny(long totalBytes, int alignment) {
    long least = totalBytes + arena.isolation().roomBytes();
    for (Bin bin : ascending) {
      Buffer own = bin.own();
      if (own != null && own.strideBytes() >= least && own.alignment() >= alignment) {
        PooledBlock block = own.claimAny();
        if (block != null) {
          return block;
        }
      }
    }
    return null;
  }

  private PooledBlock takeSlowly(
      long totalBytes, int alignment, Function<Buffer, PooledBlock> taker) {
    int index = index(totalBytes);
    int position = firstAtLeast(index);
    if (isBinOf(index, position)) {
      for (Buffer buffer : ascending[position++].buffers()) {
        PooledBlock block = buffer.alignment() >= alignment ? taker.apply(buffer) : null;
        if (block != null) {
          return block;
        }
      }
    }
    long most = (long) (totalBytes * maxOversize);
    while (position < ascending.length && ascending[position].chunkBytes() <= most) {
      Buffer own = ascending[position++].own();
      PooledBlock block = own != null && own.alignment() >= alignment ? taker.apply(own) : null;
      if (block != null) {
        return block;
      }
    }
    return null;
  }

  /**
   * Counts a request that found nothing here and was served elsewhere; gathers what is idle if
   * there should have been something.
   */
  public void countUnserved(long totalBytes) {
    boolean known = binOf(totalBytes) != null;
    FlightEvents.unservedRequest(totalBytes, known);
    if (known) {
      misses.increment();
      index.gather();
    } else {
      nullBins.count(totalBytes);
    }
  }

  /** The bin of a request, or null if it has none. */
  public Bin binOf(long totalBytes) {
    int index = index(totalBytes);
    int position = firstAtLeast(index);
    return isBinOf(index, position) ? ascending[position] : null;
  }

  private boolean isBinOf(int index, int position) {
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
  public PooledBlock find(long address) {
    ArenaSpan[] known = spans;
    for (ArenaSpan span : known != null ? known : findSpans()) {
      PooledBlock block = span.find(address);
      if (block != null) {
        return block;
      }
    }
    return null;
  }

  /** Under the lock, or it might keep a block from being found that is added meanwhile. */
  private ArenaSpan[] findSpans() {
    synchronized (spansLock) {
      List<MemoryRegion> regions = arenas().flatMap(each -> each.regions().stream()).toList();
      ArenaSpan[] made = ArenaSpan.over(regions, blocks(), intervalBytes);
      // Release: publishes the tables; its acquire is the volatile read in find.
      spans = made;
      return made;
    }
  }

  /** All blocks of the arena. */
  public List<PooledBlock> blocks() {
    return buffers().stream().flatMap(buffer -> buffer.blocks().stream()).toList();
  }

  private List<Buffer> buffers() {
    // A loop, for some servers ask for statistics at every step.
    List<Buffer> buffers = new ArrayList<>();
    for (Bin bin : ascending) {
      List<Buffer> own = bin.allOwn();
      for (int i = 0; i < own.size(); i++) {
        buffers.add(own.get(i));
      }
    }
    return buffers;
  }

  private Stream<Arena> arenas() {
    return Stream.concat(Stream.of(arena), grown.arenas());
  }

  /**
   * Gives a bin one block more.
   *
   * @param bin has blocks
   * @param source where the memory comes from
   * @return the block, claimed
   * @throws io.prmalloc.OutOfNativeMemoryException if the memory is not available
   */
  public synchronized PooledBlock grow(Bin bin, SubAllocator source) {
    GrownBlocks.Grown more = GrownBlocks.reserve(bin.own(), source, arena.isolation());
    boolean known = false;
    try {
      index.adopt(more.block());
      // Before other threads see it.
      more.block().claim();
      long bytes = more.arena().bytes();
      GrownBlocks.Grown[] all = grown.with(more);
      bin.grow(more.buffer());
      known = true;
      synchronized (spansLock) {
        grown.set(all, bytes);
        spans = null;
      }
      return more.block();
    } finally {
      if (!known) {
        more.arena().free();
      }
    }
  }

  /** Whether a request would have found a block if all blocks had memory. */
  public boolean isLackingFor(long totalBytes, int alignment) {
    return isLacking() && takeSlowly(totalBytes, alignment, Buffer::lacking) != null;
  }

  /** Whether some blocks have no memory. */
  public boolean isLacking() {
    return arena.isAnyLacking() || grown.isAnyLacking();
  }

  /**
   * Reserves what is lacking, region by region, as far as there is memory.
   *
   * @param headroomBytes how much is to be left to others
   * @param each told of every region that comes, before a block of it can be taken
   * @return whether nothing is lacking any more
   * @throws OutOfNativeMemoryException if memory is refused that seemed to be there; what was
   *     reserved before is kept
   */
  public synchronized boolean fill(long headroomBytes, Consumer<MemoryRegion> each) {
    for (int region = 0; region < arena.count(); region++) {
      if (arena.isLacking(region) && attach(arena, region, headroomBytes)) {
        try {
          each.accept(arena.region(region));
        } finally {
          arena.release(region, null);
        }
      }
    }
    return !isLacking();
  }

  /** Gives a region memory, if there is enough. Its blocks are found then, and still claimed. */
  private boolean attach(Arena its, int region, long headroomBytes) {
    MemoryRegion reserved = its.reserve(region, headroomBytes);
    if (reserved == null) {
      return false;
    }
    try {
      synchronized (spansLock) {
        its.attach(region, reserved);
        spans = null;
      }
      return true;
    } catch (Throwable e) {
      its.giveBack(reserved);
      throw e;
    }
  }

  /**
   * Reserves memory for a block without any that a request may have, and claims it; or gives null.
   *
   * @param totalBytes the size, header included
   */
  public synchronized PooledBlock back(long totalBytes, int alignment) {
    try {
      return takeSlowly(totalBytes, alignment, this::back);
    } catch (OutOfNativeMemoryException refused) {
      // The request goes outside, where its exact size may be available; the caller is told if not.
      SafeLog.log(LOGGER, Level.DEBUG, "a block of the plan has no memory yet", refused);
      return null;
    }
  }

  private PooledBlock back(Buffer buffer) {
    int lacking = buffer.firstLacking();
    if (lacking < 0 || !attach(buffer.arena(), buffer.regionOf(lacking), 0)) {
      return null;
    }
    PooledBlock block = buffer.block(lacking);
    buffer.arena().release(buffer.regionOf(lacking), block);
    return block;
  }

  /** A region of an arena. */
  private record Part(Arena arena, int region) {
    long bytes() {
      return arena.bytes(region);
    }
  }

  /**
   * Gives back the memory of blocks that are free, region by region: the smallest region that is
   * enough by itself, else the largest first. Those blocks are lacking then. If all of it would not
   * be enough, nothing goes.
   *
   * @param bytes how many are wanted, from 1
   * @return how many went
   */
  public synchronized long evict(long bytes) {
    List<Part> free = freeParts();
    if (free.stream().mapToLong(Part::bytes).sum() < bytes) {
      return 0;
    }
    for (Part part : free) {
      long gone = part.bytes() >= bytes ? drop(part) : 0;
      if (gone > 0) {
        return gone;
      }
    }
    return evict(free, bytes);
  }

  /** Gives back the memory of all blocks that are free; how many bytes went. */
  public synchronized long evict() {
    return evict(freeParts(), Long.MAX_VALUE);
  }

  private long evict(List<Part> smallestFirst, long bytes) {
    long gone = 0;
    for (int i = smallestFirst.size() - 1; i >= 0 && gone < bytes; i--) {
      gone += drop(smallestFirst.get(i));
    }
    return gone;
  }

  private List<Part> freeParts() {
    return arenas()
        .flatMap(
            each ->
                IntStream.range(0, each.count())
                    .filter(each::isFree)
                    .mapToObj(region -> new Part(each, region)))
        .sorted(Comparator.comparingLong(Part::bytes))
        .toList();
  }

  private long drop(Part part) {
    List<MemoryRegion> without = part.arena().without(part.region());
    if (!part.arena().claim(part.region())) {
      return 0;
    }
    MemoryRegion gone;
    synchronized (spansLock) {
      gone = part.arena().detach(part.region(), without);
      spans = null;
    }
    // After its blocks are found no more: its addresses may be given out by somebody else now.
    return part.arena().giveBack(gone);
  }

  /** Bytes of the blocks that bins got later. */
  public long grownBytes() {
    return grown.bytes();
  }

  /** Goes on with the counters of the table whose place this takes. Before it is published. */
  public void countOnFrom(BinTable before) {
    misses = before.misses;
    nullBins = before.nullBins;
  }

  /** Has somebody told of every block that is freed from now on. */
  public void tellWhenFree(Runnable whenFree) {
    index.tell(block -> whenFree.run());
  }

  /** Closes all buffers if all blocks are free; else nothing has changed. */
  @Override
  public boolean retire() {
    return Retirable.retireAll(buffers());
  }

  /** Undoes {@link #retire}. */
  @Override
  public void reopen() {
    for (Bin bin : ascending) {
      List<Buffer> own = bin.allOwn();
      for (int i = 0; i < own.size(); i++) {
        own.get(i).reopen();
      }
    }
  }

  /**
   * Gives the arena back, whatever is still in use; handles on its blocks are closed from then on.
   */
  public void free() {
    // Loops without a stream: they take no heap, of which there may be none.
    for (Bin bin : ascending) {
      List<Buffer> own = bin.allOwn();
      for (int i = 0; i < own.size(); i++) {
        own.get(i).revokeAll();
        own.get(i).noteResident();
      }
    }
    try {
      arena.free();
    } finally {
      grown.free(0);
    }
  }

  /** Makes the arena resident as far as the system does so. Not while it is discarded. */
  public void populate() {
    arenas().forEach(Arena::populate);
    buffers().forEach(Buffer::noteResident);
  }

  /**
   * Gives back the pages of blocks that are free.
   *
   * @param discarder as in {@link Buffer#discardFree}
   * @return how many bytes went
   */
  public long discardFree(ToLongFunction<PooledBlock> discarder) {
    return buffers().stream().mapToLong(buffer -> buffer.discardFree(discarder)).sum();
  }

  /** Bytes that {@link #discardFree} gave back and were not used since. */
  public long discardedBytes() {
    return buffers().stream().mapToLong(Buffer::discardedBytes).sum();
  }

  /** Adds up the blocks; a bin's share of the peak is the chunks taken since it was cleared. */
  public void addTo(PoolCounts counts) {
    for (Buffer buffer : buffers()) {
      buffer.addTo(counts);
      counts.peakBytes += buffer.peakBlocks() * buffer.strideBytes();
    }
  }

  /** Lets the peaks and the largest uses begin anew. */
  public void clearPeaks() {
    buffers().forEach(Buffer::clearPeak);
  }

  public Bin[] bins() {
    return ascending;
  }

  public int intervalBytes() {
    return intervalBytes;
  }

  /** What this is made of, for another process. */
  public KeptPool keep() {
    return new KeptPool(
        plan,
        IntStream.range(0, blocks.length)
            .mapToObj(position -> blocks[position] + ascending[position].grownBuffers())
            .toList(),
        loadBytes);
  }

  /**
   * Notes of what load the plan was learnt; 0, as before, if that is not known. Before it serves.
   */
  public void noteLoad(long bytes) {
    loadBytes = bytes;
  }

  /** What the plan's own blocks add up to. */
  public long planBytes() {
    return plan.totalBytes();
  }

  /** How many blocks there are more than the plan's. */
  public int addedBlocks() {
    return addedBlocks + grown.count();
  }

  /** Bytes of the arena, and of what bins got later. */
  public long arenaBytes() {
    return arena.bytes() + grown.bytes();
  }

  public long misses() {
    return misses.sum();
  }

  public NullBins nullBins() {
    return nullBins;
  }
}
