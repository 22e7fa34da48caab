package io.prmalloc.internal.arena;

import io.prmalloc.MemoryRegion;
import io.prmalloc.SubAllocator;
import io.prmalloc.internal.block.BlockIsolation;
import io.prmalloc.internal.block.SafeLog;
import io.prmalloc.internal.freelist.PooledBlock;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;

/**
 * The memory that a plan is served from. It is laid out first, chunk by chunk, and then reserved:
 * as one region if it fits, else as a few, because a buffer sees at most 2 GiB − 1. Under a limit
 * it is not one reservation: the regions are small, and each comes and goes by itself.
 *
 * <p>Threading: {@link Layout} is not safe. Regions come and go under the lock of the plan's table;
 * what there is may be asked by any thread.
 */
public final class Arena {

  // A region that is lacking has blocks without memory, which stay claimed, so that none is given
  // out. A region goes only if every one of its blocks can be claimed.

  private static final Logger LOGGER = SafeLog.logger(Arena.class);

  /** Where the chunks lie. */
  public static final class Layout {
    private final long regionLimitBytes;
    private final long regionAlignment;
    private final BlockIsolation isolation;
    private final List<Long> regionBytes = new ArrayList<>();
    private final List<Long> regionAlignments = new ArrayList<>();

    /**
     * @param regionLimitBytes the most bytes of a region that holds more than one chunk
     * @param regionAlignment a power of two that every region's address is to be a multiple of
     */
    public Layout(long regionLimitBytes, long regionAlignment) {
      this(regionLimitBytes, regionAlignment, BlockIsolation.NONE);
    }

    /**
     * @param isolation of the blocks that the chunks will be
     */
    public Layout(long regionLimitBytes, long regionAlignment, BlockIsolation isolation) {
      this.regionLimitBytes = Math.min(regionLimitBytes, MAX_CHUNK_BYTES);
      this.regionAlignment = regionAlignment;
      this.isolation = isolation;
    }

    BlockIsolation isolation() {
      return isolation;
    }

    /**
     * Finds a place for a chunk behind the last one.
     *
     * @param bytes its size
     * @param alignment a power of two that its address is to be a multiple of; both together {@link
     *     #fits}
     */
    public Place place(long bytes, long alignment) {
      int last = regionBytes.size() - 1;
      if (last >= 0) {
        long offset = (regionBytes.get(last) + alignment - 1) & -alignment;
        long aligned = Math.max(alignment, regionAlignments.get(last));
        if (offset + bytes <= regionLimitBytes && fits(offset + bytes, aligned)) {
          regionBytes.set(last, offset + bytes);
          regionAlignments.set(last, aligned);
          return new Place(last, offset);
        }
      }
      regionBytes.add(bytes);
      regionAlignments.add(
          fits(bytes, regionAlignment) ? Math.max(alignment, regionAlignment) : alignment);
      return new Place(last + 1, 0);
    }

    /** Bytes of each region. */
    List<Long> regionBytes() {
      return Collections.unmodifiableList(regionBytes);
    }

    /** What each region's address is to be a multiple of. */
    List<Long> regionAlignments() {
      return Collections.unmodifiableList(regionAlignments);
    }

    /** Bytes of all regions together. */
    long totalBytes() {
      return regionBytes.stream().mapToLong(Long::longValue).sum();
    }
  }

  /** Where a chunk lies: which region, and where in it. */
  public record Place(int region, long offset) {}

  private static final List<MemoryRegion> NONE = List.of();

  /** The largest chunk an arena can hold: a page less than 2 GiB. */
  public static final long MAX_CHUNK_BYTES = (1L << 31) - 4096;

  /**
   * Whether a region can have so many bytes at such an alignment. A sub-allocator may need room to
   * align a region, and has at most {@link MemoryRegion#MAX_BYTES} for both.
   */
  static boolean fits(long bytes, long alignment) {
    return bytes <= MAX_CHUNK_BYTES && bytes + alignment - 1 <= MemoryRegion.MAX_BYTES;
  }

  private final SubAllocator source;
  private final BlockIsolation isolation;
  private final List<Long> regionBytes;
  private final List<Long> regionAlignments;

  /** By region, the blocks that lie in it. */
  private final List<List<PooledBlock>> blocks;

  /**
   * By number, null for one that is lacking; none at all once they are given back. Replaced as a
   * whole: a thread that asks how much a plan has may be in the middle of it when another plan
   * takes its place.
   */
  private volatile List<MemoryRegion> regions;

  /** How many regions are lacking. */
  private volatile int lacking;

  /** Bytes of the regions that are there: requests that find no block ask for them. */
  private volatile long bytes;

  private Arena(SubAllocator source, Layout layout, List<MemoryRegion> regions) {
    this.source = source;
    this.isolation = layout.isolation();
    this.regionBytes = List.copyOf(layout.regionBytes());
    this.regionAlignments = List.copyOf(layout.regionAlignments());
    this.regions = regions;
    this.lacking = (int) regions.stream().filter(Objects::isNull).count();
    this.bytes = sum(regions);
    this.blocks =
        regions.stream().map(region -> (List<PooledBlock>) new ArrayList<PooledBlock>()).toList();
  }

  /**
   * Reserves what a layout needs.
   *
   * @param each told of every region as soon as it is there
   * @throws io.prmalloc.OutOfNativeMemoryException if the memory is not available; nothing is kept
   *     then
   */
  public static Arena reserve(SubAllocator source, Layout layout, Consumer<MemoryRegion> each) {
    MemoryRegion[] regions = new MemoryRegion[layout.regionBytes.size()];
    try {
      for (int i = 0; i < regions.length; i++) {
        regions[i] = source.alloc(layout.regionAlignments.get(i), layout.regionBytes.get(i));
        each.accept(regions[i]);
      }
      return new Arena(source, layout, List.of(regions));
    } catch (Throwable e) {
      source.freeAll(Arrays.asList(regions));
      throw e;
    }
  }

  /** Reserves nothing yet: every region is lacking. */
  static Arena lacking(SubAllocator source, Layout layout) {
    return new Arena(source, layout, Arrays.asList(new MemoryRegion[layout.regionBytes.size()]));
  }

  /** Takes in a block that lies in a region. Before the arena is shared. */
  void add(int region, PooledBlock block) {
    blocks.get(region).add(block);
    if (regions.get(region) == null) {
      block.claim();
    }
  }

  /** How many regions there are, those included that are lacking. */
  int count() {
    return regionBytes.size();
  }

  /** Whether a region has no memory. Not so after all memory went back: none will come. */
  boolean isLacking(int region) {
    List<MemoryRegion> now = regions;
    return region < now.size() && now.get(region) == null;
  }

  boolean isAnyLacking() {
    return lacking > 0;
  }

  /** Bytes of a region, whether it is there or not. */
  long bytes(int region) {
    return regionBytes.get(region);
  }

  // A region that is lacking gets its memory in three steps, and a region goes in three. In between
  // the table learns of it (see BinTable): a block can be taken only while it is found by its
  // address.

  /**
   * Reserves the memory of a region that is lacking, for {@link #attach}; or gives null if there is
   * not enough.
   *
   * @param headroomBytes how much is to be left to others
   * @throws io.prmalloc.OutOfNativeMemoryException if the memory is not available although there
   *     seemed to be enough
   */
  MemoryRegion reserve(int region, long headroomBytes) {
    // Asked first: where the JVM's limit is reached it takes its time to say so.
    return source.bytesAvailable() - headroomBytes < regionBytes.get(region)
        ? null
        : source.alloc(regionAlignments.get(region), regionBytes.get(region));
  }

  /**
   * Gives a region that is lacking the memory that was reserved for it. Its blocks stay claimed. If
   * that fails, for lack of heap, the region is lacking still.
   */
  void attach(int region, MemoryRegion reserved) {
    List<PooledBlock> all = blocks.get(region);
    try {
      List<MemoryRegion> changed = new ArrayList<>(regions);
      changed.set(region, reserved);
      for (int i = 0; i < all.size(); i++) {
        all.get(i).moveInto(reserved);
      }
      set(changed, -1);
    } catch (Throwable e) {
      detachBlocks(region);
      throw e;
    }
  }

  private void detachBlocks(int region) {
    List<PooledBlock> all = blocks.get(region);
    for (int i = 0; i < all.size(); i++) {
      all.get(i).moveInto(null);
    }
  }

  /**
   * Frees the blocks of a region that was {@link #attach attached}.
   *
   * @param claimed stays claimed; null for none
   */
  void release(int region, PooledBlock claimed) {
    List<PooledBlock> all = blocks.get(region);
    for (int i = 0; i < all.size(); i++) {
      if (all.get(i) != claimed) {
        all.get(i).release();
      }
    }
  }

  /** Whether a region is there and all its blocks are free. True of the moment of the call. */
  boolean isFree(int region) {
    return !isLacking(region) && blocks.get(region).stream().allMatch(PooledBlock::isFree);
  }

  /** Claims all blocks of a region, or none. */
  boolean claim(int region) {
    List<PooledBlock> all = blocks.get(region);
    for (int i = 0; i < all.size(); i++) {
      if (!all.get(i).claim()) {
        giveUp(all, i);
        return false;
      }
    }
    return true;
  }

  private static void giveUp(List<PooledBlock> claimed, int count) {
    for (int i = 0; i < count; i++) {
      claimed.get(i).giveUp();
    }
  }

  /** The regions for {@link #detach}, made before the claim: there may be no heap for them. */
  List<MemoryRegion> without(int region) {
    List<MemoryRegion> changed = new ArrayList<>(regions);
    changed.set(region, null);
    return changed;
  }

  /**
   * Takes the memory of a region whose blocks are all {@link #claim claimed}: it is lacking then.
   *
   * @param without what stays
   * @return the memory, to be {@link #giveBack given back}
   */
  MemoryRegion detach(int region, List<MemoryRegion> without) {
    MemoryRegion gone = regions.get(region);
    set(without, 1);
    detachBlocks(region);
    return gone;
  }

  /** Gives back memory that no region has; how many bytes those are. */
  long giveBack(MemoryRegion memory) {
    long bytes = memory.sizeBytes();
    source.free(memory);
    return bytes;
  }

  @SuppressWarnings("NonAtomicVolatileUpdate") // written under the lock of the plan's table only
  private void set(List<MemoryRegion> changed, int moreLacking) {
    regions = changed;
    lacking += moreLacking;
    bytes = sum(changed);
  }

  private static long sum(List<MemoryRegion> regions) {
    // Without a stream: this takes no heap, of which there may be none.
    long bytes = 0;
    for (int i = 0; i < regions.size(); i++) {
      bytes += regions.get(i) == null ? 0 : regions.get(i).sizeBytes();
    }
    return bytes;
  }

  /** How its blocks are isolated. */
  BlockIsolation isolation() {
    return isolation;
  }

  /** A region, or null if it is lacking. */
  MemoryRegion region(int index) {
    return regions.get(index);
  }

  /** The regions that are there. */
  List<MemoryRegion> regions() {
    return regions.stream().filter(Objects::nonNull).toList();
  }

  /** Bytes of the regions that are there. */
  long bytes() {
    return bytes;
  }

  /** Makes all regions resident as far as the system does so. */
  void populate() {
    for (MemoryRegion region : regions()) {
      try {
        region.populate();
      } catch (IllegalStateException | OutOfMemoryError notNow) {
        // It is only for speed: what is not there comes when it is touched.
        SafeLog.log(LOGGER, Level.DEBUG, "the arena is not resident as a whole", notNow);
        return;
      }
    }
  }

  /** Gives everything back, when it is no longer in use. */
  void free() {
    List<MemoryRegion> all = regions;
    regions = NONE;
    bytes = 0;
    source.freeAll(all);
  }
}
