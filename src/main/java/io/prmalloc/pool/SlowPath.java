package io.prmalloc.pool;

import io.prmalloc.Allocator;
import io.prmalloc.OutOfNativeMemoryException;
import io.prmalloc.internal.arena.BinTable;
import io.prmalloc.internal.block.Block;
import io.prmalloc.internal.block.NoInline;
import io.prmalloc.internal.block.PoolObserver;
import io.prmalloc.internal.block.Requests;
import io.prmalloc.internal.extent.LiveHeap;
import io.prmalloc.internal.freelist.PooledBlock;
import io.prmalloc.internal.lifecycle.Replanner;
import io.prmalloc.internal.observe.ObserverRegistry;
import io.prmalloc.internal.slab.SizeClasses;
import io.prmalloc.internal.slab.SmallBlocks;
import io.prmalloc.internal.steps.ImplicitSteps;
import io.prmalloc.lifetime.LifetimePolicy;

/**
 * The slow path: serves the requests that find no free block at the first look, and those that are
 * observed.
 *
 * <p>Threading: any thread.
 */
final class SlowPath {

  // A request is served by the first of these that has memory:
  //
  //   1. the calling thread's step, if steps are served
  //   2. the block that the fast path would have found, if that is closed for observers or
  //      isolation
  //   3. another block of the pool
  //   4. one more block for a bin that continues to miss
  //   5. the live heap
  //   6. the same again, after memory was given back that the pool holds and does not use (see
  //      RefusedRequests)
  //   7. any free block of the plan that is large enough
  //
  // A request that is too large for a buffer goes to the live heap at once, and no plan learns of
  // it.

  private final TensorPoolAllocator pool;
  private final SmallBlocks small;
  private final LiveHeap outside;
  private final ObserverRegistry registry;
  private final ImplicitSteps steps;
  private final Replanner replanner;
  private final Growth growth;
  private final RefusedRequests refusals;

  SlowPath(
      TensorPoolAllocator pool,
      SmallBlocks small,
      LiveHeap outside,
      ObserverRegistry registry,
      ImplicitSteps steps,
      Replanner replanner,
      Growth growth,
      RefusedRequests refusals) {
    this.pool = pool;
    this.small = small;
    this.outside = outside;
    this.registry = registry;
    this.steps = steps;
    this.replanner = replanner;
    this.growth = growth;
    this.refusals = refusals;
  }

  /**
   * Takes a block for a handle; none is where the fast path looked.
   *
   * @param bytes any
   * @throws IllegalArgumentException as {@link Requests#checkBytes}
   */
  Block takeForHandle(long bytes, int alignment) {
    Requests.checkBytes(bytes);
    return take(bytes, alignment, 0, 0);
  }

  /**
   * Takes a block.
   *
   * @param bytes what was asked for
   * @param smallHeader bytes in front if it is a small block
   * @param largeHeader bytes in front if not; more than 0 for a raw address only
   * @param depth {@link NoInline#DEPTH}
   * @throws OutOfNativeMemoryException if the memory cannot be reserved
   * @throws IllegalStateException if the pool is closed
   */
  Block take(long bytes, int alignment, int smallHeader, int largeHeader, int depth) {
    return depth > 0
        ? take(bytes, alignment, smallHeader, largeHeader, depth - 1)
        : take(bytes, alignment, smallHeader, largeHeader);
  }

  private Block take(long bytes, int alignment, int smallHeader, int largeHeader) {
    if (Requests.isLarge(bytes + largeHeader)) {
      return takeUnready(bytes, alignment, smallHeader, largeHeader, NoInline.BULKY_DEPTH);
    }
    // A caller that requests an address has asked the step already.
    Block ofStep = largeHeader == 0 && steps.isServing() ? steps.take(bytes, alignment) : null;
    return ofStep != null ? ofStep : takeShared(bytes, alignment, smallHeader, largeHeader);
  }

  private Block takeShared(long bytes, int alignment, int smallHeader, int largeHeader) {
    PoolObserver[] observers = registry.observers();
    PooledBlock ready =
        observers != null
            ? takeNear(bytes, alignment, smallHeader, largeHeader)
            : takeFurther(bytes, alignment, smallHeader, largeHeader);
    if (ready == null) {
      return takeUnready(bytes, alignment, smallHeader, largeHeader, NoInline.BULKY_DEPTH);
    }
    return observers != null ? ObserverRegistry.tell(observers, ready, bytes, alignment) : ready;
  }

  /** A block where the fast path looks, if that is closed; else of the stripe's other words. */
  private PooledBlock takeFurther(long bytes, int alignment, int smallHeader, int largeHeader) {
    if (bytes <= LifetimePolicy.SMALL_BYTES || pool.isFastPathClosed()) {
      return takeNear(bytes, alignment, smallHeader, largeHeader);
    }
    BinTable table = pool.bins();
    boolean served = table != null && alignment <= Allocator.DEFAULT_ALIGNMENT;
    return served ? table.freeIndex().takeFurther(bytes + largeHeader) : null;
  }

  /** The block that {@link TensorPoolAllocator#takeReady} finds, even where that is closed. */
  private PooledBlock takeNear(long bytes, int alignment, int smallHeader, int largeHeader) {
    if (alignment > Allocator.DEFAULT_ALIGNMENT) {
      return null;
    }
    if (bytes <= LifetimePolicy.SMALL_BYTES) {
      return small.takeServed((int) bytes + smallHeader, alignment);
    }
    BinTable table = pool.bins();
    return table == null ? null : table.take(bytes + largeHeader);
  }

  /** Out of line, or it would keep what precedes it, which is quick, from being inlined. */
  private Block takeUnready(
      long bytes, int alignment, int smallHeader, int largeHeader, int depth) {
    return depth > 0
        ? takeUnready(bytes, alignment, smallHeader, largeHeader, depth - 1)
        : takeOrRetry(bytes, alignment, smallHeader, largeHeader);
  }

  private Block takeOrRetry(long bytes, int alignment, int smallHeader, int largeHeader) {
    try {
      return takeWatched(bytes, alignment, smallHeader, largeHeader);
    } catch (OutOfNativeMemoryException refused) {
      return refusals.retry(
          bytes,
          largeHeader > 0,
          refused,
          () -> takeAgain(bytes, alignment, smallHeader, largeHeader));
    }
  }

  private Block takeAgain(long bytes, int alignment, int smallHeader, int largeHeader) {
    try {
      return takeWatched(bytes, alignment, smallHeader, largeHeader);
    } catch (OutOfNativeMemoryException refused) {
      Block any = takeAny(bytes, alignment, largeHeader, refused);
      return told(any, bytes, alignment, smallHeader, largeHeader);
    }
  }

  /**
   * A free block of the plan that has room for a request, however large it is: it cannot be given
   * back, since others of its region are allocated. A small request may have an extent of the heap,
   * too, where there is no memory for a slab.
   */
  private Block takeAny(long bytes, int alignment, int header, OutOfNativeMemoryException refused) {
    BinTable table = Requests.isLarge(bytes + header) ? null : pool.bins();
    Block any = table == null ? null : table.takeAny(bytes + header, alignment);
    if (any != null) {
      return any;
    }
    try {
      if (bytes <= LifetimePolicy.SMALL_BYTES) {
        return registry.acquire(bytes, alignment, header, null);
      }
    } catch (OutOfNativeMemoryException neither) {
      // The user is told of the slab.
    }
    throw refused;
  }

  private Block takeWatched(long bytes, int alignment, int smallHeader, int largeHeader) {
    Block block = takeFromNext(bytes, alignment, smallHeader, largeHeader);
    return told(block, bytes, alignment, smallHeader, largeHeader);
  }

  private Block told(Block block, long bytes, int alignment, int smallHeader, int largeHeader) {
    try {
      return registry.taken(block, bytes, alignment);
    } catch (Throwable e) {
      boolean isSlot = block instanceof PooledBlock pooled && pooled.isSmall();
      block.abandon(bytes, isSlot ? smallHeader : largeHeader);
      throw e;
    }
  }

  /**
   * Takes a block outside the pool that is freed with a ticket; one of the plan, whose end nobody
   * is told of, if there is no other memory.
   *
   * @param headerBytes bytes in front; more than 0 for a raw address only
   * @throws OutOfNativeMemoryException if the memory cannot be reserved
   */
  Block takeOutside(long bytes, int alignment, int headerBytes, Object ticket) {
    try {
      return outside.acquire(bytes, alignment, headerBytes, ticket);
    } catch (OutOfNativeMemoryException refused) {
      return refusals.retry(
          bytes,
          headerBytes > 0,
          refused,
          () -> takeOutsideAgain(bytes, alignment, headerBytes, ticket));
    }
  }

  private Block takeOutsideAgain(long bytes, int alignment, int headerBytes, Object ticket) {
    try {
      return outside.acquire(bytes, alignment, headerBytes, ticket);
    } catch (OutOfNativeMemoryException refused) {
      return takeAny(bytes, alignment, headerBytes, refused);
    }
  }

  private Block takeFromNext(long bytes, int alignment, int smallHeader, int largeHeader) {
    if (bytes <= LifetimePolicy.SMALL_BYTES) {
      return alignment <= SizeClasses.MAX_ALIGNMENT
          ? small.allocateSlowly((int) bytes + smallHeader, alignment)
          : registry.acquire(bytes, alignment, largeHeader, null);
    }
    long total = bytes + largeHeader;
    BinTable table = Requests.isLarge(total) ? null : pool.bins();
    PooledBlock pooled = table == null ? null : takeFromBins(table, total, alignment);
    if (pooled != null) {
      return pooled;
    }
    // One call: the JIT may inline all of it, at each place where it stands.
    Block unpooled = registry.takeOutside(bytes, alignment, largeHeader);
    if (table != null) {
      try {
        noteUnserved(table, total, alignment);
      } catch (Throwable e) {
        unpooled.abandon(bytes, largeHeader);
        throw e;
      }
    }
    return unpooled;
  }

  private PooledBlock takeFromBins(BinTable table, long total, int alignment) {
    PooledBlock found = table.takeSlowly(total, alignment);
    return found != null ? found : growth.afterMiss(table, total, alignment);
  }

  private void noteUnserved(BinTable table, long total, int alignment) {
    table.countUnserved(total);
    if (!table.isLackingFor(total, alignment)) {
      // Another plan would have no more memory.
      replanner.unserved(table);
    }
  }
}
