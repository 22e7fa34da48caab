package io.prmalloc.pool;

import io.prmalloc.Isolation;
import io.prmalloc.SubAllocator;
import io.prmalloc.os.MemoryRegion;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Consumer;

/**
 * The one reservation that a plan is served from. It is laid out first, chunk by chunk, and then
 * reserved as a whole: as one region if it fits, else as a few, because a buffer sees at most 2 GiB
 * − 1.
 *
 * <p>Threading: {@link Layout} is not safe; an arena is immutable but for {@link #free}.
 */
final class Arena {

  private static final Logger LOGGER = System.getLogger(Arena.class.getName());

  /** Where the chunks lie. */
  static final class Layout {
    private final long regionLimitBytes;
    private final long regionAlignment;
    private final Isolation isolation;
    private final List<Long> regionBytes = new ArrayList<>();
    private final List<Long> regionAlignments = new ArrayList<>();

    /**
     * @param regionLimitBytes the most bytes of a region that holds more than one chunk
     * @param regionAlignment a power of two that every region's address is to be a multiple of
     */
    Layout(long regionLimitBytes, long regionAlignment) {
      this(regionLimitBytes, regionAlignment, Isolation.NONE);
    }

    /**
     * @param isolation of the blocks that the chunks will be
     */
    Layout(long regionLimitBytes, long regionAlignment, Isolation isolation) {
      this.regionLimitBytes = Math.min(regionLimitBytes, MAX_CHUNK_BYTES);
      this.regionAlignment = regionAlignment;
      this.isolation = isolation;
    }

    Isolation isolation() {
      return isolation;
    }

    /**
     * Finds a place for a chunk behind the last one.
     *
     * @param bytes its size
     * @param alignment a power of two that its address is to be a multiple of; both together {@link
     *     #fits}
     */
    Place place(long bytes, long alignment) {
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
  record Place(int region, long offset) {}

  /** The largest chunk an arena can hold: a page less than 2 GiB. */
  static final long MAX_CHUNK_BYTES = (1L << 31) - 4096;

  /**
   * Whether a region can have so many bytes at such an alignment. A sub-allocator may need room to
   * align a region, and has at most {@link MemoryRegion#MAX_BYTES} for both.
   */
  static boolean fits(long bytes, long alignment) {
    return bytes <= MAX_CHUNK_BYTES && bytes + alignment - 1 <= MemoryRegion.MAX_BYTES;
  }

  private final SubAllocator source;
  private final Isolation isolation;

  /**
   * None once they are given back. Replaced as a whole: who asks how much a plan has may be in the
   * middle of it when another takes the plan's place.
   */
  private volatile List<MemoryRegion> regions;

  private Arena(SubAllocator source, Isolation isolation, List<MemoryRegion> regions) {
    this.source = source;
    this.isolation = isolation;
    this.regions = regions;
  }

  /**
   * Reserves what a layout needs.
   *
   * @param each told of every region as soon as it is there
   * @throws io.prmalloc.OutOfNativeMemoryException if the memory is not to be had; nothing is kept
   *     then
   */
  static Arena reserve(SubAllocator source, Layout layout, Consumer<MemoryRegion> each) {
    List<MemoryRegion> regions = new ArrayList<>();
    boolean complete = false;
    try {
      for (int i = 0; i < layout.regionBytes.size(); i++) {
        MemoryRegion region =
            source.alloc(layout.regionAlignments.get(i), layout.regionBytes.get(i));
        regions.add(region);
        each.accept(region);
      }
      complete = true;
      return new Arena(source, layout.isolation(), List.copyOf(regions));
    } finally {
      if (!complete) {
        regions.forEach(source::free);
      }
    }
  }

  /** How its blocks are isolated. */
  Isolation isolation() {
    return isolation;
  }

  MemoryRegion region(int index) {
    return regions.get(index);
  }

  List<MemoryRegion> regions() {
    return regions;
  }

  long bytes() {
    return regions.stream().mapToLong(MemoryRegion::sizeBytes).sum();
  }

  /** Makes all regions resident as far as the system does so. */
  void populate() {
    for (MemoryRegion region : regions) {
      try {
        region.populate();
      } catch (IllegalStateException | OutOfMemoryError notNow) {
        // It is only for speed: what is not there comes when it is touched.
        LOGGER.log(Level.DEBUG, "the arena is not resident as a whole", notNow);
        return;
      }
    }
  }

  /** Gives everything back; when nobody uses it any more. */
  void free() {
    List<MemoryRegion> all = regions;
    regions = List.of();
    all.forEach(source::free);
  }
}
