package io.prmalloc.pool;

import io.prmalloc.Allocation;
import io.prmalloc.AllocationAttributes;
import io.prmalloc.AllocationLog;
import io.prmalloc.Allocator;
import io.prmalloc.AllocatorStats;
import io.prmalloc.Block;
import io.prmalloc.OutOfLine;
import io.prmalloc.OutOfNativeMemoryException;
import io.prmalloc.RegionHeap;
import io.prmalloc.Requests;
import io.prmalloc.SubAllocator;
import io.prmalloc.lifetime.LifetimePlan;
import io.prmalloc.lifetime.LifetimePolicy;
import io.prmalloc.lifetime.MemoryPlanner;
import io.prmalloc.lifetime.MemoryPlanner.Tracked;
import io.prmalloc.lifetime.ScopedMemoryCollector;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The allocator that learns. During warm-up it passes requests on and watches; when its planner has
 * a plan it reserves one arena and serves from pooled stacks, without system calls, page faults or
 * garbage.
 *
 * <pre>{@code
 * try (TensorPoolAllocator pool = TensorPoolAllocator.builder().build()) {
 *   while (serving()) {
 *     try (ScopedMemoryCollector step = pool.collect()) {
 *       try (Allocation input = pool.allocate(inputBytes)) {
 *         infer(input.byteBuffer());
 *       }
 *     }
 *   }
 * }
 * }</pre>
 *
 * <p>Modelled on DeepRec's {@code TensorPoolAllocator} (PRMalloc).
 *
 * <p>Threading: as {@link Allocator} says.
 */
public final class TensorPoolAllocator implements Allocator {

  // Three sources, by size and by what the plan knows:
  //
  //   up to 32 KiB   SmallBlocks: slabs by size class, from the first request on
  //   planned        BinTable: published by one volatile write when it is complete; from then on
  //                  every request that reads it is served from it. Requests that read null a
  //                  moment earlier go outside, and find their way home there, because a block
  //                  knows its home. So the switch-over waits for nobody and stops nobody.
  //   all the rest   RegionHeap: a region each, tracked by the planner while it collects
  //
  // Nothing is counted on the way of a hit: blocks count their own uses.
  //
  // Whether a request is small is decided by the bytes asked for, its bin by the bytes and the
  // header together. A handle has no header; a raw address has 64 bytes, or as much as its
  // alignment.

  static final String NAME = "tensorpool_cpu";

  private static final Logger LOGGER = System.getLogger(TensorPoolAllocator.class.getName());

  private final SubAllocator source;
  private final MemoryPlanner planner;
  private final double maxOversize;
  private final Executor executor;

  private final AddressDirectory directory = new AddressDirectory();
  private final SmallBlocks small;
  private final RegionHeap outside;
  private final PoolBooks books;
  private final AllocationLog log = new AllocationLog();

  private volatile BinTable bins;

  /** The bins once they are closed, for what they counted. */
  private volatile BinTable closedBins;

  private final ReentrantLock lifecycle = new ReentrantLock();
  private volatile boolean closed;

  TensorPoolAllocator(TensorPoolBuilder builder) {
    this.source = builder.source();
    this.maxOversize = builder.maxOversize();
    this.executor = builder.executor();
    this.planner = builder.makePlanner();
    this.outside = new RegionHeap(source, ticket -> planner.trackFree((Tracked) ticket));
    this.small = new SmallBlocks(source, directory, outside::noteReserved);
    this.books = new PoolBooks(source, small, outside, directory, this::countedBins);
    planner.bind(this::onPlan);
  }

  /** Starts a new allocator. Threading: any thread; a builder itself is not safe. */
  public static TensorPoolBuilder builder() {
    return new TensorPoolBuilder();
  }

  @Override
  public String name() {
    return NAME;
  }

  /** The planner of this allocator. Threading: any thread. */
  public MemoryPlanner planner() {
    return planner;
  }

  /**
   * Opens a step: {@code planner().collect()}.
   *
   * <p>Threading: any thread.
   */
  public ScopedMemoryCollector collect() {
    return planner.collect();
  }

  /**
   * Whether planned requests are served from the arena by now. Threading: any thread; once true,
   * true until closed.
   */
  public boolean isPooling() {
    return bins != null;
  }

  @Override
  public Allocation allocate(long bytes) {
    Requests.checkBytes(bytes);
    return take(bytes, (int) DEFAULT_ALIGNMENT).open(bytes);
  }

  @Override
  public Allocation allocate(long bytes, long alignment) {
    Requests.checkBytes(bytes);
    Requests.checkAlignment(alignment);
    return take(bytes, (int) alignment).open(bytes);
  }

  private Block take(long bytes, int alignment) {
    Block block = takeReady(bytes, alignment, 0, 0);
    return block != null ? block : takeOutOfLine(bytes, alignment, 0, 0, OutOfLine.DEPTH);
  }

  /** A block that is at hand, or null; what it does not find is for {@link #takeSlowly}. */
  private PooledBlock takeReady(long bytes, int alignment, int smallHeader, int largeHeader) {
    if (alignment > DEFAULT_ALIGNMENT) {
      return null;
    }
    if (bytes <= LifetimePolicy.SMALL_BYTES) {
      return small.take((int) bytes + smallHeader, alignment);
    }
    BinTable table = bins;
    return table == null ? null : table.take(bytes + largeHeader);
  }

  /** {@link #takeSlowly} out of line: see {@link OutOfLine}. */
  private Block takeOutOfLine(
      long bytes, int alignment, int smallHeader, int largeHeader, int depth) {
    return depth > 0
        ? takeOutOfLine(bytes, alignment, smallHeader, largeHeader, depth - 1)
        : takeSlowly(bytes, alignment, smallHeader, largeHeader);
  }

  /** What the first look did not find. */
  private Block takeSlowly(long bytes, int alignment, int smallHeader, int largeHeader) {
    try {
      return takeFromNext(bytes, alignment, smallHeader, largeHeader);
    } catch (OutOfNativeMemoryException refused) {
      // Of a raw address nobody sees the exception, so what is in use is not added up for it.
      throw largeHeader > 0 ? refused : refused.forUser(bytes, books.bytesInUse());
    }
  }

  private Block takeFromNext(long bytes, int alignment, int smallHeader, int largeHeader) {
    if (bytes <= LifetimePolicy.SMALL_BYTES) {
      return alignment <= SizeClasses.MAX_ALIGNMENT
          ? small.allocateSlowly((int) bytes + smallHeader, alignment)
          : outside.acquire(bytes, alignment, largeHeader, null);
    }
    BinTable table = bins;
    if (table == null) {
      return takeOutside(bytes, alignment, largeHeader);
    }
    PooledBlock pooled = table.takeSlowly(bytes + largeHeader, alignment);
    if (pooled != null) {
      return pooled;
    }
    Block unpooled = takeOutside(bytes, alignment, largeHeader);
    table.countUnserved(bytes + largeHeader);
    return unpooled;
  }

  private Block takeOutside(long bytes, int alignment, int headerBytes) {
    if (closed) {
      // The heap would say so too, but only after it had asked the system for memory.
      throw new IllegalStateException("allocator " + name() + " is closed");
    }
    Tracked tracked = planner.trackAllocate(alignment, bytes + headerBytes);
    if (tracked == null) {
      return outside.acquire(bytes, alignment, headerBytes, null);
    }
    boolean taken = false;
    try {
      Block block = outside.acquire(bytes, alignment, headerBytes, tracked);
      taken = true;
      return block;
    } finally {
      if (!taken) {
        planner.trackFailure(tracked);
      }
    }
  }

  @Override
  public long allocateRaw(long alignment, long bytes) {
    Requests.checkAlignment(alignment);
    int header = (int) Math.max(HeaderDescriptor.FULL_BYTES, alignment);
    Requests.totalBytes(bytes, header);
    if (!directory.isEnabled()) {
      directory.enable();
    }
    try {
      return openRaw((int) alignment, bytes, header);
    } catch (OutOfNativeMemoryException notToBeHad) {
      return 0;
    }
  }

  @Override
  public long allocateRaw(long alignment, long bytes, AllocationAttributes attributes) {
    return log.allocateRaw(this, alignment, bytes, attributes);
  }

  private long openRaw(int alignment, long bytes, int header) {
    int smallHeader = Math.max(HeaderDescriptor.LIGHT_BYTES, alignment);
    // The address of no bytes must lie inside its block too, for there it is looked up.
    int smallRoom = bytes == 0 ? smallHeader + 1 : smallHeader;
    Block block = takeReady(bytes, alignment, smallRoom, header);
    if (block == null) {
      block = takeOutOfLine(bytes, alignment, smallRoom, header, OutOfLine.DEPTH);
    }
    return block instanceof PooledBlock pooled
        ? openPooledRaw(pooled, bytes, smallHeader, header)
        : openLargeRaw(block, block.region().address() + block.offset(), bytes, header, -1, -1);
  }

  private long openPooledRaw(PooledBlock block, long bytes, int smallHeader, int header) {
    if (!block.isSmall()) {
      int bin = bins.index(bytes + header);
      return openLargeRaw(block, block.startAddress(), bytes, header, bin, block.bin());
    }
    block.openRaw(bytes, smallHeader);
    HeaderDescriptor.writeLight(block.region().buffer(), block.offset() + smallHeader, smallHeader);
    return block.startAddress() + smallHeader;
  }

  private static long openLargeRaw(
      Block block, long start, long bytes, int header, int bin, int internalBin) {
    block.openRaw(bytes, header);
    HeaderDescriptor.writeFull(
        block.region().buffer(),
        block.offset() + header,
        block.uses(),
        bin,
        internalBin,
        start,
        header,
        bytes);
    return start + header;
  }

  @Override
  public void deallocateRaw(long address) {
    if (address == 0) {
      return;
    }
    BinTable table = bins;
    Block block = table == null ? null : table.find(address);
    if (block == null) {
      block = directory.find(address);
    }
    if (block instanceof PooledBlock pooled) {
      deallocatePooled(pooled, address);
    } else {
      deallocateOutside(outside.findRaw(address), address);
    }
  }

  private void deallocatePooled(PooledBlock block, long address) {
    // The stamp comes first: what is read after it is of this use, or the stamp is stale at the
    // end.
    long stamp = block.stamp();
    int header = block.headerBytes();
    if (!Block.isOut(stamp) || header == 0 || address != block.startAddress() + header) {
      releaseLogged(address);
      return;
    }
    int user = block.offset() + header;
    if (block.isSmall()) {
      HeaderDescriptor.checkLight(block.region().buffer(), user, header);
    } else {
      int bytes = block.sizeBytes();
      HeaderDescriptor.checkFull(
          block.region().buffer(),
          user,
          Block.useOf(stamp),
          bins.index((long) bytes + header),
          block.bin(),
          block.startAddress(),
          header,
          bytes);
    }
    if (!block.closeRaw(stamp)) {
      throw PoolBooks.notOurs(address);
    }
  }

  private void deallocateOutside(Block block, long address) {
    if (block == null || !block.isLive()) {
      releaseLogged(address);
      return;
    }
    int header = block.headerBytes();
    HeaderDescriptor.checkFull(
        block.region().buffer(),
        block.offset() + header,
        block.uses(),
        -1,
        -1,
        address - header,
        header,
        block.sizeBytes());
    if (!block.closeRaw()) {
      throw PoolBooks.notOurs(address);
    }
  }

  /** An address with no header of ours in front may be one that was logged, else is not ours. */
  private void releaseLogged(long address) {
    if (!log.release(address)) {
      throw PoolBooks.notOurs(address);
    }
  }

  private void onPlan(LifetimePlan made) {
    int[] blocks = new Rehearsal(made, maxOversize).run();
    lifecycle.lock();
    try {
      if (closed || bins != null) {
        return;
      }
      Takeover takeover = new Takeover(source, outside, executor);
      BinTable table = takeover.reserve(made, blocks, maxOversize);
      // Release: publishes the table; its acquire is the volatile read in take, allocateLargeRaw
      // and deallocatePooled.
      bins = table;
      outside.noteReserved();
      takeover.finish(table.arenaBytes(), () -> populate(table));
    } catch (OutOfNativeMemoryException e) {
      LOGGER.log(Level.WARNING, "no memory for the planned pool, going on without it", e);
    } finally {
      lifecycle.unlock();
    }
  }

  private void populate(BinTable table) {
    lifecycle.lock();
    try {
      if (bins == table) {
        table.populate();
      }
    } finally {
      lifecycle.unlock();
    }
  }

  @Override
  public boolean tracksAllocationSizes() {
    return true;
  }

  @Override
  public long requestedSize(long address) {
    return books.chunkAt(address).requestedBytes();
  }

  @Override
  public long allocatedSize(long address) {
    return books.chunkAt(address).allocatedBytes();
  }

  @Override
  public long allocationId(long address) {
    return books.chunkAt(address).allocationId();
  }

  @Override
  public long allocatedSizeSlow(long address) {
    return books.usableBytesAt(address);
  }

  /** {@inheritDoc} While others allocate all the time, of several moments within the call. */
  @Override
  public AllocatorStats stats() {
    return books.stats();
  }

  /** {@inheritDoc} What {@link #poolStats} counts is not touched. */
  @Override
  public boolean clearStats() {
    books.clearStats();
    return true;
  }

  private BinTable countedBins() {
    BinTable table = bins;
    return table != null ? table : closedBins;
  }

  /** How well the pool serves. Costs a walk over its blocks. Threading: any thread. */
  public PoolStats poolStats() {
    return books.poolStats(planner.packedSteps());
  }

  /**
   * A table for people: what is reserved and in use, and every bin with its blocks, borrowings and
   * uses. Its form may change.
   *
   * <p>Threading: any thread.
   */
  public String dumpStats() {
    return PoolReport.of(stats(), poolStats(), small.slabs(), planner.phase(), countedBins());
  }

  @Override
  public void close() {
    lifecycle.lock();
    try {
      if (closed) {
        return;
      }
      if (!retireAll()) {
        throw books.stillInUse();
      }
      release();
    } finally {
      lifecycle.unlock();
    }
  }

  /** Makes sure that nothing is out and nothing can be taken; else leaves everything as it was. */
  private boolean retireAll() {
    if (!small.retire()) {
      return false;
    }
    BinTable table = bins;
    if (table == null || table.retire()) {
      if (outside.close()) {
        return true;
      }
      if (table != null) {
        table.reopen();
      }
    }
    small.reopen();
    return false;
  }

  /**
   * Gives every byte back to the system although some may be in use. Handles that are still open
   * are closed from then on; to use a buffer or an address that came from here is undefined.
   *
   * <p>Threading: any thread, when nobody uses the memory any more.
   */
  public void closeForcibly() {
    lifecycle.lock();
    try {
      if (!closed) {
        outside.closeForcibly();
        release();
        log.forget();
      }
    } finally {
      lifecycle.unlock();
    }
  }

  private void release() {
    closed = true;
    BinTable table = bins;
    closedBins = table;
    bins = null;
    if (table != null) {
      table.free();
    }
    small.free();
  }
}
