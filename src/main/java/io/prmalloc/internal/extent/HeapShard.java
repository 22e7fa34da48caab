package io.prmalloc.internal.extent;

import io.prmalloc.MemoryRegion;
import io.prmalloc.internal.block.AddressDirectory;
import io.prmalloc.internal.block.Block;
import io.prmalloc.internal.block.HeapBlock;
import io.prmalloc.internal.block.NoInline;
import io.prmalloc.internal.block.SpinLock;
import java.util.Arrays;
import java.util.BitSet;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A part of the {@link LiveHeap}: some of its regions, under one lock.
 *
 * <p>Threading: any thread; the fields under {@link #lock}.
 */
final class HeapShard {

  private static final int PAGE_BYTES = ExtentMap.PAGE_BYTES;
  private static final int PAGE_SHIFT = Integer.numberOfTrailingZeros(PAGE_BYTES);

  /**
   * The most free blocks that a shard keeps, a power of two. With this many, two of three requests
   * in traffic of any size find a block with a view of their place, and nearly all in traffic of
   * sixteen shapes.
   */
  private static final int SPARE_BLOCKS = 4096;

  private static int slotOf(int first, int pages) {
    return ((first * 31 + pages) * 0x9E3779B1) >>> (Integer.SIZE - 12);
  }

  /** A region of the sub-allocator. */
  static final class Region implements AddressDirectory.Span {
    final MemoryRegion memory;

    /** Null of a region that is all for one request. */
    final ExtentMap map;

    /** By page: the block whose extent begins there, or whose user's first byte lies there. */
    final HeapBlock[] blocks;

    /** Changes only while the region is free as a whole. */
    volatile HeapShard shard;

    /** The heap's last mark when something was taken here. Under the shard's lock. */
    int lastMark;

    /** The first pages of the extents that are watched, or null. */
    BitSet watched;

    Region(MemoryRegion memory, ExtentMap map) {
      this.memory = memory;
      this.map = map;
      this.blocks = new HeapBlock[map == null ? 1 : map.pages()];
    }

    @Override
    public MemoryRegion region() {
      return memory;
    }

    @Override
    public Block blockAt(long offset) {
      return blocks[map == null ? 0 : (int) (offset >>> PAGE_SHIFT)];
    }

    long bytes() {
      return memory.sizeBytes();
    }

    /** Whether an allocated block is watched. A guess without the lock. */
    boolean isWatched(HeapBlock block) {
      BitSet pages = watched;
      return pages != null && pages.get(block.offset() >>> PAGE_SHIFT);
    }
  }

  /** The parameters of a request. */
  record Request(long bytes, long alignment, int headerBytes, long capacity, Object ticket) {

    int pages() {
      return pagesOf(capacity);
    }

    /** Pages that are sure to have room for it at its alignment. */
    long mostPages() {
      return pages() + Math.max(0, (alignment >>> PAGE_SHIFT) - 1);
    }
  }

  static int pagesOf(long bytes) {
    return (int) ((bytes + PAGE_BYTES - 1) >>> PAGE_SHIFT);
  }

  private final LiveHeap heap;

  final ReentrantLock lock = new ReentrantLock();

  static final Region[] NO_REGIONS = {};

  /** In the order in which they came: what is in use stays together in the oldest. */
  Region[] regions = NO_REGIONS;

  /**
   * Free blocks, by the place where they lay: there they have a view already. A block found here
   * may have been elsewhere, and is then placed anew.
   */
  private final HeapBlock[] spare = new HeapBlock[SPARE_BLOCKS];

  /** Free blocks that had to make room for others there: a list, so that a free takes no heap. */
  private HeapBlock displaced;

  private int displacedBlocks;

  // What is allocated in these regions, and was. Under the lock.
  long liveBlocks;
  long allocs;
  long bytesInUse;
  long peakBytesInUse;
  long largestBytes;

  HeapShard(LiveHeap heap) {
    this.heap = heap;
  }

  void lock() {
    SpinLock.lock(lock);
  }

  /**
   * An extent of this shard's regions, or null.
   *
   * @param depth {@link NoInline#BULKY_DEPTH}: the JIT would compile all of this at each place from
   *     which the heap is asked, with 40 MiB of memory that the C library keeps
   */
  HeapBlock take(long bytes, long alignment, int headerBytes, int pages, Object ticket, int depth) {
    return depth > 0
        ? take(bytes, alignment, headerBytes, pages, ticket, depth - 1)
        : takeLowest(bytes, alignment, headerBytes, pages, ticket);
  }

  private HeapBlock takeLowest(
      long bytes, long alignment, int headerBytes, int pages, Object ticket) {
    lock();
    try {
      heap.checkOpen();
      Region region = null;
      int first = -1;
      for (int i = 0; first < 0 && i < regions.length; i++) {
        region = regions[i];
        first = take(region, pages, alignment);
      }
      return first < 0 ? null : begin(region, first, pages, bytes, headerBytes, ticket);
    } finally {
      lock.unlock();
    }
  }

  /** A free block: the one that lay at a place before, if it is still there. */
  private HeapBlock blockFor(int first, int pages) {
    int slot = slotOf(first, pages);
    HeapBlock known = spare[slot];
    if (known != null) {
      spare[slot] = null;
      return known;
    }
    HeapBlock last = displaced;
    if (last == null) {
      return new HeapBlock(heap.isolation(), heap::released);
    }
    displaced = last.next;
    displacedBlocks--;
    last.next = null;
    return last;
  }

  private void keep(HeapBlock block, int first, int pages) {
    int slot = slotOf(first, pages);
    HeapBlock other = spare[slot];
    spare[slot] = block;
    if (other != null && displacedBlocks < SPARE_BLOCKS) {
      other.next = displaced;
      displaced = other;
      displacedBlocks++;
    }
  }

  private int take(Region region, int pages, long alignment) {
    if (alignment <= PAGE_BYTES) {
      return region.map.take(pages, heap.now());
    }
    long origin = region.memory.address() >>> PAGE_SHIFT;
    int unit = (int) (alignment >>> PAGE_SHIFT);
    return region.map.takeAligned(pages, unit, (int) (origin & (unit - 1)), heap.now());
  }

  private HeapBlock begin(
      Region region, int first, int pages, long bytes, int headerBytes, Object ticket) {
    try {
      HeapBlock block = blockFor(first, pages);
      long start = (long) first << PAGE_SHIFT;
      long length = (long) pages << PAGE_SHIFT;
      block.place(
          region.memory, start, length, heap.addressOf(region.memory, start), region, ticket);
      region.blocks[first] = block;
      region.lastMark = heap.lastMark();
      int userPage = first + (headerBytes >>> PAGE_SHIFT);
      if (userPage != first) {
        region.blocks[userPage] = block;
      }
      count(bytes);
      return block;
    } catch (Throwable e) {
      region.blocks[first] = null;
      region.map.free(first, heap.now());
      throw e;
    }
  }

  void count(long bytes) {
    liveBlocks++;
    allocs++;
    bytesInUse += bytes;
    peakBytesInUse = Math.max(peakBytesInUse, bytesInUse);
    largestBytes = Math.max(largestBytes, bytes);
  }

  /**
   * Takes an extent back; whether it was one that is watched.
   *
   * @param purged whether its pages are not in memory any more
   */
  boolean release(HeapBlock block, Region region, boolean purged) {
    lock();
    try {
      int first = block.offset() >>> PAGE_SHIFT;
      region.blocks[first] = null;
      int userPage = first + (block.headerBytes() >>> PAGE_SHIFT);
      region.blocks[userPage] = null;
      liveBlocks--;
      bytesInUse -= block.sizeBytes();
      boolean seen = region.watched != null && region.watched.get(first);
      if (seen) {
        region.watched.clear(first);
      }
      int pages = region.map.length(first);
      if (purged) {
        region.map.purged(first);
      } else {
        region.map.free(first, heap.now());
      }
      keep(block, first, pages);
      return seen;
    } finally {
      lock.unlock();
    }
  }

  /** Takes in a region, and an extent of it at once, so that no other thread takes all of it. */
  HeapBlock addAndTake(Region region, Request request) {
    lock();
    try {
      heap.checkOpen();
      add(region);
      int first = take(region, request.pages(), request.alignment);
      if (first < 0) {
        return null;
      }
      return begin(
          region, first, request.pages(), request.bytes, request.headerBytes, request.ticket);
    } finally {
      lock.unlock();
    }
  }

  private void add(Region region) {
    Region[] more = Arrays.copyOf(regions, regions.length + 1);
    more[regions.length] = region;
    region.shard = this;
    regions = more;
  }

  void remove(Region region) {
    regions = Arrays.stream(regions).filter(it -> it != region).toArray(Region[]::new);
  }

  /** Bytes of the regions. */
  long heldBytes() {
    lock();
    try {
      return Arrays.stream(regions).mapToLong(Region::bytes).sum();
    } finally {
      lock.unlock();
    }
  }

  /** The smallest region that is free as a whole and has so many pages, or null. */
  Region smallestFree(long pages) {
    lock();
    try {
      return smallestFreeLocked(pages);
    } finally {
      lock.unlock();
    }
  }

  private Region smallestFreeLocked(long pages) {
    Region smallest = null;
    for (Region region : regions) {
      boolean fits = region.map.isFree() && region.map.pages() >= pages;
      if (fits && (smallest == null || region.bytes() < smallest.bytes())) {
        smallest = region;
      }
    }
    return smallest;
  }

  /** Takes out the smallest region that is free as a whole and large enough, or gives null. */
  Region surrender(long pages) {
    lock();
    try {
      Region smallest = smallestFreeLocked(pages);
      if (smallest != null) {
        remove(smallest);
      }
      return smallest;
    } finally {
      lock.unlock();
    }
  }
}
