package io.prmalloc.pool;

import io.prmalloc.SubAllocator;
import io.prmalloc.os.MemoryRegion;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * The one reservation that a plan is served from. It is laid out first, chunk by chunk, and then
 * reserved as a whole: as one region if it fits, else as a few, because a buffer sees at most 2 GiB
 * − 1.
 *
 * <p>Threading: {@link Layout} is not safe; an arena is immutable but for {@link #free}.
 */
final class Arena {

  /** Where the chunks lie. */
  static final class Layout {
    private final long regionLimitBytes;
    private final List<Long> regionBytes = new ArrayList<>();
    private final List<Long> regionAlignments = new ArrayList<>();

    Layout() {
      this(MAX_CHUNK_BYTES);
    }

    Layout(long regionLimitBytes) {
      this.regionLimitBytes = regionLimitBytes;
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
        long regionAlignment = Math.max(alignment, regionAlignments.get(last));
        if (offset + bytes <= regionLimitBytes && fits(offset + bytes, regionAlignment)) {
          regionBytes.set(last, offset + bytes);
          regionAlignments.set(last, regionAlignment);
          return new Place(last, offset);
        }
      }
      regionBytes.add(bytes);
      regionAlignments.add(alignment);
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
  private final List<MemoryRegion> regions;

  private Arena(SubAllocator source, List<MemoryRegion> regions) {
    this.source = source;
    this.regions = regions;
  }

  /**
   * Reserves what a layout needs.
   *
   * @throws io.prmalloc.OutOfNativeMemoryException if the memory is not to be had; nothing is kept
   *     then
   */
  static Arena reserve(SubAllocator source, Layout layout) {
    List<MemoryRegion> regions = new ArrayList<>();
    Arena arena = new Arena(source, regions);
    boolean complete = false;
    try {
      for (int i = 0; i < layout.regionBytes.size(); i++) {
        regions.add(source.alloc(layout.regionAlignments.get(i), layout.regionBytes.get(i)));
      }
      complete = true;
      return arena;
    } finally {
      if (!complete) {
        arena.free();
      }
    }
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

  /** Gives everything back; when nobody uses it any more. */
  void free() {
    for (MemoryRegion region : regions) {
      source.free(region);
    }
    regions.clear();
  }
}
