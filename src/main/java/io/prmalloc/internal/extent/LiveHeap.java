package io.prmalloc.internal.extent;

import io.prmalloc.AllocatorStats;
import io.prmalloc.Chunk;
import io.prmalloc.MemoryRegion;
import io.prmalloc.OutOfNativeMemoryException;
import io.prmalloc.SubAllocator;
import io.prmalloc.internal.block.AddressDirectory;
import io.prmalloc.internal.block.Block;
import io.prmalloc.internal.block.BlockIsolation;
import io.prmalloc.internal.block.HeapBlock;
import io.prmalloc.internal.block.NoInline;
import io.prmalloc.internal.block.Requests;
import io.prmalloc.internal.block.Retirable;
import io.prmalloc.internal.block.SafeLog;
import io.prmalloc.internal.block.Stripes;
import io.prmalloc.internal.extent.HeapShard.Region;
import io.prmalloc.internal.extent.HeapShard.Request;
import io.prmalloc.internal.jfr.FlightEvents;
import io.prmalloc.internal.memory.RegionHeap.ReleaseListener;
import io.prmalloc.internal.os.MappedRegion;
import io.prmalloc.internal.os.OperatingSystem;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;

/**
 * The general heap under every plan: extents of any size, split and coalesced in few large regions.
 * It serves all requests of more than 32 KiB that no plan serves: warm-up, sizes that no bin knows,
 * callers without steps. It also serves smaller requests of steps that are learnt.
 *
 * <p>Modelled on the extents of jemalloc with its decay, and on the page heap of TCMalloc.
 *
 * <p>Threading: every method may be called from any thread. The sub-allocator and the system are
 * called without a lock.
 */
public final class LiveHeap implements Retirable {

  /** Told of the release of blocks that were allocated at a moment. */
  @FunctionalInterface
  public interface DrainListener {
    /**
     * Threading: the thread that releases, or the one that started to watch.
     *
     * @param all whether the last of them is freed; this is reported once
     */
    void drained(boolean all);
  }

  // Regions come from the sub-allocator: large, few, each as large as all that its shard has. Each
  // is divided by an ExtentMap, lowest address first.
  //
  // Shards. Threads that share one lock wait for each other, and take the lines of one map from
  // each other's caches, which costs more. So regions belong to shards, threads to stripes of
  // shards, and a thread is served from its own shard. A freed block returns to its region,
  // whichever thread frees it. A shard that finds nothing
  //
  //   1. adopts the smallest region of another shard that is free as a whole: larger ones may be
  //      given back,
  //   2. is served from another shard, where the heap as a whole has more idle than in use,
  //   3. gives back its own regions that are free as a whole, for they are too small, and reserves
  //      a larger one; where that is refused, one that is no larger than the request; then the
  //      empty regions of all shards are given back and it tries again; then it tries other shards;
  //      only then the request is refused.
  //
  // So two threads soon have regions of their own, and one thread after the other shares them.
  //
  // Purging. Pages that were allocated and freed stay in memory, for the next request. Those that
  // were unused for a while are given back to the system, and regions that are free as a whole to
  // the sub-allocator. Time is counted in ticks of the pool's maintenance, so that no request reads
  // a clock. While a part is purged it is taken, so that no lock is held meanwhile.
  //
  // A request that is larger than a region, and every one where guard pages are wanted, has a
  // region of its own.

  private static final Logger LOGGER = SafeLog.logger(LiveHeap.class);

  private static final int PAGE_BYTES = ExtentMap.PAGE_BYTES;
  private static final int PAGE_SHIFT = Integer.numberOfTrailingZeros(PAGE_BYTES);

  /** The least bytes of a region where memory costs nothing before it is touched. */
  private static final long MIN_REGION_BYTES = 8L << 20;

  /** The same where the sub-allocator writes every page. */
  private static final long MIN_RESIDENT_BYTES = 1L << 20;

  /** The most bytes of a region that is not for one request. */
  private static final long MAX_REGION_BYTES = 1L << 30;

  /** The same where the sub-allocator writes every page: so much is in memory for a moment. */
  private static final long MAX_RESIDENT_BYTES = 32L << 20;

  /** The most pages that are purged at a time, and so are not available meanwhile: 2 MiB. */
  private static final int PURGED_PAGES = (2 << 20) / PAGE_BYTES;

  /** If the heap has less, only a trim purges its free pages. */
  private static final long MIN_PURGED_BYTES = 32L << 20;

  /** So much may be idle before a shard is served from others instead of growing. */
  private static final long IDLE_BYTES = 32L << 20;

  private static final int LEAST_SHARDS = 4;
  private static final int MOST_SHARDS = 16;

  private final SubAllocator source;
  private final BlockIsolation isolation;
  private final ReleaseListener listener;
  private final AddressDirectory directory;
  private final Stripes stripes = Stripes.perProcessor(2, LEAST_SHARDS, MOST_SHARDS);
  private final HeapShard[] shards = new HeapShard[stripes.count()];

  /** Regions that are all for one request. Under the lock of the first shard. */
  private final Set<Region> own = new HashSet<>();

  /** Read-locked by a thread that has a region which is in no shard. */
  private final ReentrantReadWriteLock transit = new ReentrantReadWriteLock();

  /** The tick: grows with the pool's maintenance. */
  private volatile int now;

  private final AtomicInteger marks = new AtomicInteger();

  private volatile boolean closed;

  /** Whether the sub-allocator is asked although it has too little by its own account. */
  private volatile BooleanSupplier insists = () -> true;

  private final AtomicLong heldBytes = new AtomicLong();
  private final AtomicLong peakBytesReserved = new AtomicLong();
  private final AtomicLong lastId = new AtomicLong();
  private final AtomicInteger reserving = new AtomicInteger();
  private volatile boolean cannotPurge;
  private volatile long allocsBeforeClear;

  /** Numbers of allocations that were asked for, as long as their blocks exist. */
  private final Map<HeapBlock, Numbered> numbers = new WeakHashMap<>();

  private record Numbered(long stamp, long id) {}

  // The watched blocks. Under the lock of this object.
  private DrainListener drainListener;
  private long watchedBlocks;
  private long stepBytes;
  private long drainedBytes;

  /**
   * @param source where the regions come from
   * @param isolation of the blocks; room for it is added to what is asked for
   * @param directory where the regions are found by address
   * @param listener told of every freed block that has a ticket
   */
  public LiveHeap(
      SubAllocator source,
      BlockIsolation isolation,
      AddressDirectory directory,
      ReleaseListener listener) {
    this.source = source;
    this.isolation = isolation;
    this.directory = directory;
    this.listener = listener;
    Arrays.setAll(shards, i -> new HeapShard(this));
  }

  /**
   * Sets when the sub-allocator is asked although it has too little by its own account: when else a
   * request is refused. At the JVM's limit that looks for forgotten buffers, which takes up to half
   * a second.
   */
  public void insistWhen(BooleanSupplier value) {
    insists = value;
  }

  /** In ticks of the pool's maintenance. */
  int now() {
    return now;
  }

  int lastMark() {
    return marks.get();
  }

  /** How the blocks are isolated. */
  public BlockIsolation isolation() {
    return isolation;
  }

  /**
   * The address of a block's first byte, or 0 before addresses were first asked for. Told before
   * the block is allocated: a thread that frees an address twice may look at a block that is placed
   * anew.
   */
  long addressOf(MemoryRegion memory, long offset) {
    return directory.isEnabled() ? memory.address() + offset : 0;
  }

  void checkOpen() {
    if (closed) {
      throw new IllegalStateException("allocator is closed");
    }
  }

  /**
   * Takes a block. The caller starts its use with {@link Block#open} or {@link Block#openRaw}, with
   * the same number of bytes.
   *
   * @param bytes how many bytes the user asked for, from 0
   * @param alignment a power of two for the user's first byte
   * @param headerBytes bytes in front of the user's, a multiple of the alignment; 0 for none
   * @param ticket given to the listener when the block is freed, or null
   * @throws OutOfNativeMemoryException if the memory cannot be reserved
   * @throws IllegalStateException if the heap is closed, or a header is asked for and this JVM
   *     cannot tell addresses
   */
  public Block acquire(long bytes, long alignment, int headerBytes, Object ticket) {
    // A request of no bytes takes one byte: the address behind a header must lie in the block, so
    // that no other block has it.
    long capacity = Math.max(1, bytes) + headerBytes + isolation.roomBytes();
    if (headerBytes > 0 && !directory.isEnabled()) {
      directory.enable();
    }
    long start = FlightEvents.outsideAllocationStart();
    HeapBlock block = take(bytes, capacity, alignment, headerBytes, ticket);
    try {
      FlightEvents.outsideAllocation(start, bytes, alignment);
      return block;
    } catch (Throwable e) {
      block.abandon(bytes, headerBytes);
      throw e;
    }
  }

  private HeapBlock take(
      long bytes, long capacity, long alignment, int headerBytes, Object ticket) {
    int pages = Requests.isLarge(capacity) ? 0 : HeapShard.pagesOf(capacity);
    if (pages == 0
        || source.isGuarded()
        || alignment > MAX_REGION_BYTES / 2
        || pages + (alignment >>> PAGE_SHIFT) > ExtentMap.MAX_PAGES) {
      return takeOwn(new Request(bytes, alignment, headerBytes, capacity, ticket));
    }
    HeapShard shard = shards[stripes.current()];
    HeapBlock block =
        shard.take(bytes, alignment, headerBytes, pages, ticket, NoInline.BULKY_DEPTH);
    return block != null
        ? block
        : takeSlowly(shard, new Request(bytes, alignment, headerBytes, capacity, ticket));
  }

  /** A region for one request. */
  private HeapBlock takeOwn(Request request) {
    boolean large = Requests.isLarge(request.capacity());
    HeapBlock block = new HeapBlock(large ? BlockIsolation.NONE : isolation, this::released);
    MemoryRegion memory = reserve(request.alignment(), request.capacity(), request.capacity());
    boolean kept = false;
    Region region = null;
    HeapShard first = shards[0];
    first.lock();
    try {
      checkOpen();
      region = new Region(memory, null);
      region.shard = first;
      directory.add(region);
      own.add(region);
      block.place(memory, 0, memory.sizeBytes(), addressOf(memory, 0), region, request.ticket());
      if (large) {
        block.beginLarge(request.bytes());
      }
      region.blocks[0] = block;
      first.count(request.bytes());
      kept = true;
      return block;
    } finally {
      if (!kept) {
        own.remove(region);
      }
      first.lock.unlock();
      if (!kept && region != null) {
        // Its addresses may be given out by another region right after.
        directory.remove(region);
      }
      if (!kept) {
        giveBack(memory);
      }
    }
  }

  private HeapBlock takeSlowly(HeapShard shard, Request request) {
    HeapBlock block = takeAdopted(shard, request);
    if (block == null && isIdle(request)) {
      block = takeFromAny(request);
    }
    if (block == null) {
      // All that are free as a whole are too small. A larger one serves what they could serve, and
      // several large requests side by side, which regions of all sizes do not.
      releaseEmpty(now + 1, shard);
    }
    while (block == null) {
      int others = reserving.get();
      try {
        block = takeReserved(shard, request);
      } catch (OutOfNativeMemoryException refused) {
        block = takeFromAny(request);
        if (block == null && (others == 0 || !waitForReserving())) {
          throw refused;
        }
      }
    }
    return block;
  }

  /** From a region that is free as a whole and was another shard's. */
  private HeapBlock takeAdopted(HeapShard shard, Request request) {
    transit.readLock().lock();
    try {
      return adopt(shard, request);
    } finally {
      transit.readLock().unlock();
    }
  }

  private HeapBlock adopt(HeapShard shard, Request request) {
    HeapShard owner = null;
    long smallest = Long.MAX_VALUE;
    for (HeapShard other : shards) {
      Region free = other == shard ? null : other.smallestFree(request.mostPages());
      if (free != null && free.bytes() < smallest) {
        smallest = free.bytes();
        owner = other;
      }
    }
    Region region = owner == null ? null : owner.surrender(request.mostPages());
    return region == null ? null : keepAndTake(shard, region, request);
  }

  /** Whether the heap holds more than it needs if it serves a request. */
  private boolean isIdle(Request request) {
    long inUse = request.bytes() + bytesInUse();
    return heldBytes.get() - inUse > Math.max(IDLE_BYTES, inUse);
  }

  private long bytesInUse() {
    long inUse = 0;
    for (HeapShard shard : shards) {
      inUse += shard.bytesInUse;
    }
    return inUse;
  }

  /** Bytes of the regions that no thread has. A guess while others take and give back. */
  public long idleBytes() {
    return Math.max(0, heldBytes.get() - bytesInUse());
  }

  private HeapBlock takeFromAny(Request request) {
    for (HeapShard shard : shards) {
      HeapBlock block =
          shard.take(
              request.bytes(),
              request.alignment(),
              request.headerBytes(),
              request.pages(),
              request.ticket(),
              NoInline.BULKY_DEPTH);
      if (block != null) {
        return block;
      }
    }
    return null;
  }

  private HeapBlock takeReserved(HeapShard shard, Request request) {
    long least = request.mostPages() << PAGE_SHIFT;
    MemoryRegion memory = reserve(PAGE_BYTES, least, sizeOfNext(shard, least));
    Region region;
    try {
      region = new Region(memory, new ExtentMap((int) (memory.sizeBytes() >>> PAGE_SHIFT)));
      directory.add(region);
    } catch (Throwable e) {
      giveBack(memory);
      throw e;
    }
    return keepAndTake(shard, region, request);
  }

  /** Adds a region that is in no shard, or frees it. */
  private HeapBlock keepAndTake(HeapShard shard, Region region, Request request) {
    try {
      return shard.addAndTake(region, request);
    } catch (Throwable e) {
      if (region.shard != shard) {
        release(region);
      }
      throw e;
    }
  }

  /** Bytes of a region for a request, and for later ones. */
  private long sizeOfNext(HeapShard shard, long least) {
    boolean resident = source.isResident();
    long held = shard.heldBytes();
    long fewest = resident ? MIN_RESIDENT_BYTES : MIN_REGION_BYTES;
    long most = resident ? MAX_RESIDENT_BYTES : MAX_REGION_BYTES;
    long more = Math.min(most, Math.max(fewest, held));
    long wanted = least <= more ? more : Math.min(MAX_REGION_BYTES, least + more);
    if (resident && least > MAX_RESIDENT_BYTES / 4) {
      // Few of that size have room in a region, and none where a small extent lies in the middle.
      wanted = least;
    }
    long available = source.bytesAvailable();
    if (available == Long.MAX_VALUE) {
      return Math.max(least, wanted) & -PAGE_BYTES;
    }
    // Room for some of the same, so that no more of them find room if each has a region of its own,
    // and not so much that nothing is left for a plan.
    long others = Math.min(wanted, available / 4) / least;
    return least * Math.max(1, others);
  }

  /**
   * A region of as many bytes as are wanted, or of the least number.
   *
   * @throws OutOfNativeMemoryException if that cannot be reserved either, even after empty regions
   *     were given back
   */
  private MemoryRegion reserve(long alignment, long least, long wanted) {
    reserving.incrementAndGet();
    try {
      MemoryRegion memory = tryReserve(alignment, least, wanted);
      heldBytes.addAndGet(memory.sizeBytes());
      try {
        noteReserved();
        // Pages that the sub-allocator wrote to reserve them need not stay in memory.
        discardAll(memory);
        return memory;
      } catch (Throwable e) {
        giveBack(memory);
        throw e;
      }
    } finally {
      reserving.decrementAndGet();
      synchronized (reserving) {
        reserving.notifyAll();
      }
    }
  }

  private MemoryRegion tryReserve(long alignment, long least, long wanted) {
    // At its limit the JVM takes long to refuse.
    if (isMissing(least)) {
      releaseUnused();
      if (isMissing(least) && !insists.getAsBoolean()) {
        throw SourceBesideHeap.refusal(source, least);
      }
    }
    OutOfNativeMemoryException last;
    try {
      return source.alloc(alignment, wanted);
    } catch (OutOfNativeMemoryException refused) {
      last = refused;
    }
    boolean untried = wanted > least;
    while (untried || releaseUnused() > 0 || awaitTransit()) {
      untried = false;
      try {
        return source.alloc(alignment, least);
      } catch (OutOfNativeMemoryException refused) {
        last = refused;
      }
    }
    throw last;
  }

  /** The limit does not apply to memory that is mapped since it is too large for a buffer. */
  private boolean isMissing(long bytes) {
    return !Requests.isLarge(bytes) && bytes > source.bytesAvailable();
  }

  /** Waits for regions that other threads are about to give back; false if there are none. */
  private boolean awaitTransit() {
    if (transit.getReadLockCount() == 0) {
      return false;
    }
    transit.writeLock().lock();
    try {
      return true;
    } finally {
      transit.writeLock().unlock();
    }
  }

  /** Waits until another thread has reserved what it wanted, or has failed; false if none does. */
  private boolean waitForReserving() {
    synchronized (reserving) {
      try {
        if (reserving.get() > 0) {
          reserving.wait(1);
        }
        return true;
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return false;
      }
    }
  }

  /**
   * Gives the pages of a region in which nothing is in use back to the system, if it is worth it.
   */
  private void discardAll(MemoryRegion memory) {
    if (source.isResident() && !(memory instanceof MappedRegion) && isWorthPurging()) {
      discard(memory, 0, memory.sizeBytes());
    }
  }

  /** Whether there is so much that a native library may be loaded to purge it. */
  private boolean isWorthPurging() {
    return heldBytes.get() >= MIN_PURGED_BYTES;
  }

  /** Gives pages back to the system; false if that cannot be done here. */
  private boolean discard(MemoryRegion memory, long offset, long bytes) {
    if (!canPurge()) {
      return false;
    }
    try {
      memory.discard(offset, bytes);
      return true;
    } catch (IllegalStateException | UnsupportedOperationException | OutOfMemoryError refused) {
      // Native calls are not available, or the memory is locked and is to stay resident.
      cannotPurge = true;
      SafeLog.log(LOGGER, Level.DEBUG, "free memory of the heap stays resident", refused);
      return false;
    }
  }

  private void giveBack(MemoryRegion memory) {
    heldBytes.addAndGet(-memory.sizeBytes());
    source.free(memory);
  }

  /** Gives a region back that is in no shard any more. */
  private void release(Region region) {
    try {
      directory.remove(region);
      // The C library keeps what it gets back where that is smaller than a threshold of its own,
      // which rises to the size of what was freed, up to 32 MiB.
      discardAll(region.memory);
    } finally {
      giveBack(region.memory);
    }
  }

  /** A block is free: {@link HeapBlock.Owner}. */
  void released(HeapBlock block) {
    Region region = (Region) block.container();
    long bytes = block.capacityBytes();
    try {
      if (block.ticket() != null) {
        listener.released(block.ticket());
      }
    } finally {
      boolean seen = region.map == null ? releaseOwn(block, region) : releaseShared(block, region);
      if (seen) {
        noteDrained(bytes);
      }
    }
  }

  private boolean releaseShared(HeapBlock block, Region region) {
    // Watched blocks are not used again: their pages are given back at once, since the plan that
    // takes over needs pages.
    boolean purged = region.isWatched(block) && isWorthPurging() && discard(block, region);
    return region.shard.release(block, region, purged);
  }

  private boolean discard(HeapBlock block, Region region) {
    transit.readLock().lock();
    try {
      // A heap that is closed by force does not wait for its blocks.
      return !closed && discard(region.memory, block.offset(), block.capacityBytes());
    } finally {
      transit.readLock().unlock();
    }
  }

  private boolean releaseOwn(HeapBlock block, Region region) {
    boolean seen;
    HeapShard first = shards[0];
    first.lock();
    try {
      first.liveBlocks--;
      first.bytesInUse -= block.requestedBytes();
      seen = region.watched != null;
      own.remove(region);
    } finally {
      first.lock.unlock();
    }
    release(region);
    return seen;
  }

  /**
   * What is known of the memory at an address, or null if it is not allocated. Reads nothing from
   * the address.
   *
   * @param address a raw address or that of a handle
   * @throws IllegalStateException if this JVM cannot tell addresses
   */
  public Chunk chunkAt(long address) {
    HeapBlock block = at(address);
    if (block == null) {
      return null;
    }
    long stamp = block.stamp();
    long capacity = block.reservedBytes();
    boolean here = address == block.startAddress() + block.headerBytes();
    long requested = block.requestedBytes();
    long bytes = block.bytesIn(stamp);
    return bytes < 0 || !here ? null : new Chunk(requested, capacity, idOf(block, stamp));
  }

  /**
   * {@link MemoryRegion#usableBytes} of a region that is all for the request at an address; else
   * what the block there has; 0 if it is not allocated.
   *
   * @throws IllegalStateException if this JVM cannot tell addresses
   */
  public long usableBytesAt(long address) {
    HeapBlock block = at(address);
    if (block == null || chunkAt(address) == null) {
      return 0;
    }
    Region region = (Region) block.container();
    return region.map == null ? region.memory.usableBytes() : block.capacityBytes();
  }

  private HeapBlock at(long address) {
    if (!directory.isEnabled()) {
      directory.enable();
    }
    return directory.find(address) instanceof HeapBlock block ? block : null;
  }

  private long idOf(HeapBlock block, long stamp) {
    synchronized (numbers) {
      Numbered known = numbers.get(block);
      if (known == null || known.stamp != stamp) {
        known = new Numbered(stamp, nextId());
        numbers.put(block, known);
      }
      return known.id;
    }
  }

  /**
   * The next number in the sequence of this heap's allocations, from 1: for allocators that
   * allocate memory beside this heap.
   */
  public long nextId() {
    return lastId.incrementAndGet();
  }

  // Watches the blocks that are allocated at a moment.

  /**
   * Watches the blocks that are allocated now. The listener is told each time that so many bytes of
   * them are freed, and when the last one is freed: at once if there are none. A new watch ends the
   * one before it.
   *
   * @param everyBytes how many bytes, at least 1
   * @param told what to tell; must not throw
   */
  public void watchDrain(long everyBytes, DrainListener told) {
    boolean none;
    lockAll();
    try {
      synchronized (this) {
        drainListener = told;
        watchedBlocks = 0;
        stepBytes = everyBytes;
        drainedBytes = 0;
        for (HeapShard shard : shards) {
          for (Region region : shard.regions) {
            region.watched = firstPages(region);
            watchedBlocks += region.watched.cardinality();
          }
        }
        for (Region region : own) {
          region.watched = new BitSet();
          watchedBlocks++;
        }
        none = watchedBlocks == 0;
      }
    } finally {
      unlockAll();
    }
    if (none) {
      tellDrained();
    }
  }

  private static BitSet firstPages(Region region) {
    BitSet pages = new BitSet();
    for (int page = 0; page < region.blocks.length; page++) {
      HeapBlock block = region.blocks[page];
      if (block != null && block.offset() >>> PAGE_SHIFT == page) {
        pages.set(page);
      }
    }
    return pages;
  }

  private void noteDrained(long bytes) {
    synchronized (this) {
      watchedBlocks--;
      drainedBytes += bytes;
      if (watchedBlocks > 0 && drainedBytes < stepBytes) {
        return;
      }
    }
    tellDrained();
  }

  private void tellDrained() {
    DrainListener told;
    boolean all;
    synchronized (this) {
      told = drainListener;
      all = watchedBlocks == 0;
      drainedBytes = 0;
      if (all) {
        drainListener = null;
      }
    }
    if (told != null) {
      told.drained(all);
    }
  }

  // Giving memory back.

  /**
   * Advances time by one tick, and gives back pages that were not in use for so many ticks. One
   * thread at a time.
   */
  @SuppressWarnings("NonAtomicVolatileUpdate") // the pool's maintenance is one thread
  public long purge(int ticks) {
    int before = ++now - ticks;
    return releaseEmpty(before, shards) + (isWorthPurging() ? purgeIdle(before) : 0);
  }

  /** Gives back all that is not in use: pages to the system, regions to the sub-allocator. */
  public long trim() {
    return releaseEmpty(now + 1, shards) + purgeIdle(now + 1);
  }

  /** Gives back the pages of all that is free, if those are worth it, and keeps the regions. */
  public void purgeFree() {
    if (isWorthPurging()) {
      purgeIdle(now + 1);
    }
  }

  /** Gives back the regions of which nothing is in use; how many bytes those were. */
  public long releaseUnused() {
    return releaseEmpty(now + 1, shards);
  }

  /** A moment, for {@link #releaseUnusedSince}. */
  public int mark() {
    return marks.incrementAndGet();
  }

  /**
   * Gives back the regions of which nothing is in use and nothing was taken since a moment; how
   * many bytes those were. The others are needed again soon, and would be reserved anew while a
   * request waits.
   */
  public long releaseUnusedSince(int mark) {
    return releaseEmpty(region -> region.lastMark - mark < 0, shards);
  }

  /** Whether {@link #purgeFree} gives pages back: if not, only regions can go. */
  public boolean purgesFree() {
    return isWorthPurging() && canPurge();
  }

  private boolean canPurge() {
    return !cannotPurge && OperatingSystem.callsNativeSilently();
  }

  /** Bytes of the regions of which nothing is in use. True of the moment of the call. */
  long unusedBytes() {
    long bytes = 0;
    for (HeapShard shard : shards) {
      shard.lock();
      try {
        for (Region region : shard.regions) {
          bytes += region.map.isFree() ? region.bytes() : 0;
        }
      } finally {
        shard.lock.unlock();
      }
    }
    return bytes;
  }

  private long releaseEmpty(int before, HeapShard... some) {
    return releaseEmpty(region -> region.map.isIdleSince(before), some);
  }

  private long releaseEmpty(Predicate<Region> isIdle, HeapShard... some) {
    transit.readLock().lock();
    try {
      long bytes = 0;
      for (HeapShard shard : some) {
        // One by one: what is in no shard is lost if there is no heap to note it.
        for (Region region = takeEmpty(shard, isIdle);
            region != null;
            region = takeEmpty(shard, isIdle)) {
          bytes += region.bytes();
          release(region);
        }
      }
      return bytes;
    } finally {
      transit.readLock().unlock();
    }
  }

  private static Region takeEmpty(HeapShard shard, Predicate<Region> isIdle) {
    shard.lock();
    try {
      for (Region region : shard.regions) {
        if (region.map.isFree() && isIdle.test(region)) {
          shard.remove(region);
          return region;
        }
      }
      return null;
    } finally {
      shard.lock.unlock();
    }
  }

  private long purgeIdle(int before) {
    long bytes = 0;
    for (HeapShard shard : shards) {
      for (Region region : regionsOf(shard)) {
        bytes += purgeIdle(shard, region, before);
      }
    }
    return bytes;
  }

  private static Region[] regionsOf(HeapShard shard) {
    shard.lock();
    try {
      return shard.regions;
    } finally {
      shard.lock.unlock();
    }
  }

  private long purgeIdle(HeapShard shard, Region region, int before) {
    long bytes = 0;
    long purged = -1;
    while (purged != 0 && canPurge()) {
      // No region goes back meanwhile: its addresses may be given out by somebody else then.
      transit.readLock().lock();
      try {
        purged = purgeOne(shard, region, before);
      } finally {
        transit.readLock().unlock();
      }
      bytes += purged;
    }
    return bytes;
  }

  /** Purges one part of a region; how many bytes those were, 0 if there is none. */
  private long purgeOne(HeapShard shard, Region region, int before) {
    int first;
    int count;
    shard.lock();
    try {
      // It may have become another shard's, which looks after it then, or have gone.
      boolean its = region.shard == shard && Arrays.asList(shard.regions).contains(region);
      first = its ? region.map.takeIdle(PURGED_PAGES, before) : -1;
      count = first < 0 ? 0 : region.map.length(first);
    } finally {
      shard.lock.unlock();
    }
    if (first < 0) {
      return 0;
    }
    boolean gone = discard(region.memory, (long) first << PAGE_SHIFT, (long) count << PAGE_SHIFT);
    shard.lock();
    try {
      if (gone) {
        region.map.purged(first);
      } else {
        region.map.notPurged(first);
      }
    } finally {
      shard.lock.unlock();
    }
    return gone ? (long) count << PAGE_SHIFT : 0;
  }

  private void lockAll() {
    for (HeapShard shard : shards) {
      shard.lock();
    }
  }

  private void unlockAll() {
    for (HeapShard shard : shards) {
      shard.lock.unlock();
    }
  }

  /**
   * If nothing is allocated, refuses further requests and gives all regions back.
   *
   * @return whether the heap is closed now; if not, nothing has changed
   */
  @Override
  public boolean retire() {
    lockAll();
    try {
      if (liveBlocksLocked() > 0) {
        return false;
      }
      closed = true;
    } finally {
      unlockAll();
    }
    boolean released = false;
    try {
      releaseAll();
      released = true;
      return true;
    } finally {
      closed = released;
    }
  }

  @Override
  public void reopen() {
    closed = false;
  }

  private void releaseAll() {
    // A thread that has taken a region out of a shard first gives it back, or finds that the heap
    // is closed.
    transit.writeLock().lock();
    try {
      List<Region> all = takeAll();
      for (int i = 0; i < all.size(); i++) {
        release(all.get(i));
      }
    } finally {
      transit.writeLock().unlock();
    }
  }

  private List<Region> takeAll() {
    List<Region> all = new ArrayList<>();
    lockAll();
    try {
      // First, for there may be no heap: then nothing has changed.
      for (HeapShard shard : shards) {
        all.addAll(Arrays.asList(shard.regions));
      }
      for (HeapShard shard : shards) {
        shard.regions = HeapShard.NO_REGIONS;
      }
    } finally {
      unlockAll();
    }
    return all;
  }

  /**
   * Refuses further requests and gives back every region; handles on blocks that are still
   * allocated are closed from then on. To be called after the last use of the memory.
   */
  public void closeForcibly() {
    List<HeapBlock> live = new ArrayList<>();
    lockAll();
    try {
      closed = true;
      for (HeapShard shard : shards) {
        for (Region region : shard.regions) {
          firstPages(region).stream().forEach(page -> live.add(region.blocks[page]));
        }
      }
      own.forEach(region -> live.add(region.blocks[0]));
    } finally {
      unlockAll();
    }
    for (HeapBlock block : live) {
      if (block.revoke()) {
        released(block);
      }
    }
    releaseAll();
  }

  /**
   * Takes note of what the sub-allocator has reserved, for the peak in {@link #stats}: for
   * allocators that take memory from it beside this heap.
   */
  public void noteReserved() {
    peakBytesReserved.accumulateAndGet(source.bytesReserved(), Math::max);
  }

  /** Bytes of the regions. */
  long heldBytes() {
    return heldBytes.get();
  }

  /** Bytes of the regions' pages that are not in memory, as far as this heap knows. */
  public long cleanBytes() {
    long pages = 0;
    lockAll();
    try {
      for (HeapShard shard : shards) {
        for (Region region : shard.regions) {
          pages += region.map.pages() - region.map.dirtyPages();
        }
      }
    } finally {
      unlockAll();
    }
    return cannotPurge ? 0 : pages << PAGE_SHIFT;
  }

  private long liveBlocksLocked() {
    return Arrays.stream(shards).mapToLong(shard -> shard.liveBlocks).sum();
  }

  /** Allocated blocks. */
  public long liveBlocks() {
    lockAll();
    try {
      return liveBlocksLocked();
    } finally {
      unlockAll();
    }
  }

  /** Blocks that were given out since the start. */
  public long totalAllocs() {
    lockAll();
    try {
      return totalAllocsLocked();
    } finally {
      unlockAll();
    }
  }

  private long totalAllocsLocked() {
    return Arrays.stream(shards).mapToLong(shard -> shard.allocs).sum();
  }

  /** A number that grows with every block that is allocated or freed. */
  public long changes() {
    lockAll();
    try {
      return 2 * totalAllocsLocked() - liveBlocksLocked();
    } finally {
      unlockAll();
    }
  }

  /**
   * What is in use and was; reserved bytes are those of the whole sub-allocator. The peak of what
   * was in use is the sum of the shards' peaks, but not more than was reserved: it may lie above,
   * never below.
   */
  public AllocatorStats stats() {
    noteReserved();
    lockAll();
    try {
      long inUse = 0;
      long peak = 0;
      long largest = 0;
      for (HeapShard shard : shards) {
        inUse += shard.bytesInUse;
        peak += shard.peakBytesInUse;
        largest = Math.max(largest, shard.largestBytes);
      }
      long peakReserved = peakBytesReserved.get();
      return new AllocatorStats(
          totalAllocsLocked() - allocsBeforeClear,
          inUse,
          peakInUse(inUse, peak, peakReserved),
          largest,
          source.bytesLimit(),
          source.bytesReserved(),
          peakReserved);
    } finally {
      unlockAll();
    }
  }

  /**
   * A bound of the most bytes that were in use at a time. Parts that are counted apart, as shards
   * and the blocks of an arena, have their peaks at different times, and so their sum may be
   * several times what there ever was. What is in use lies in what is reserved, and what is
   * reserved is noted before it is given out, so the peak of the one is a bound of the other.
   *
   * @param inUse now
   * @param sumOfPeaks of the parts
   * @param peakReserved the most that was reserved at a time
   */
  public static long peakInUse(long inUse, long sumOfPeaks, long peakReserved) {
    return Math.max(inUse, Math.min(sumOfPeaks, peakReserved));
  }

  /** Resets {@link #stats}: no allocations, peaks of the current values. */
  public void clearStats() {
    lockAll();
    try {
      allocsBeforeClear = totalAllocsLocked();
      for (HeapShard shard : shards) {
        shard.peakBytesInUse = shard.bytesInUse;
        shard.largestBytes = 0;
      }
      peakBytesReserved.set(source.bytesReserved());
    } finally {
      unlockAll();
    }
  }
}
