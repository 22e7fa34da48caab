package io.prmalloc.internal.memory;

import io.prmalloc.MemoryRegion;
import io.prmalloc.OutOfNativeMemoryException;
import io.prmalloc.SubAllocator;
import io.prmalloc.SubAllocatorWrapper;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Passes on to another sub-allocator, and keeps what that refuses to take back: {@link #free} never
 * throws for it, the region stays reserved, and is given back later. For authors of allocators,
 * whose users must not suffer when memory cannot go.
 *
 * <p>Systems refuse: {@code munmap} in the middle of merged mappings fails once a process has as
 * many of them as it may have, and on some Java versions a direct buffer cannot go while a channel
 * uses it.
 *
 * <p>What was refused is tried again, one region after each free that succeeds, and all of it when
 * {@link #alloc} would fail, and by {@link #retry} and {@link #returnAll}.
 *
 * <p>Threading: every method may be called from any thread. No lock.
 */
public final class DeferredFreeSubAllocator extends SubAllocatorWrapper {

  // A region is in the map from its alloc on, so that to note that it was refused takes no heap:
  // what refused it may have been that there is none. The thread that brings it from one state to
  // the next frees it.

  private static final Logger LOGGER = System.getLogger(DeferredFreeSubAllocator.class.getName());

  private enum State {
    OUT,
    REFUSED,
    GOING
  }

  private final ConcurrentHashMap<MemoryRegion, State> regions = new ConcurrentHashMap<>();

  /** How many regions are {@link State#REFUSED}. */
  private final AtomicInteger refused = new AtomicInteger();

  private volatile Throwable lastRefusal;

  /**
   * Threading: any thread.
   *
   * @param source where the regions come from
   */
  public DeferredFreeSubAllocator(SubAllocator source) {
    super(source);
  }

  @Override
  public MemoryRegion alloc(long alignment, long bytes) {
    try {
      return allocOnce(alignment, bytes);
    } catch (OutOfNativeMemoryException noMemory) {
      if (retry() == 0) {
        throw noMemory;
      }
      return allocOnce(alignment, bytes);
    }
  }

  private MemoryRegion allocOnce(long alignment, long bytes) {
    MemoryRegion region = wrapped().alloc(alignment, bytes);
    try {
      regions.put(region, State.OUT);
      return region;
    } catch (Throwable e) {
      wrapped().free(region);
      throw e;
    }
  }

  /**
   * Gives a region back to the system, now or later.
   *
   * @throws IllegalArgumentException if the region is of another sub-allocator; nothing changes
   *     then
   * @throws IllegalStateException if it was given to this method before; nothing changes then
   */
  @Override
  public void free(MemoryRegion region) {
    if (!regions.replace(region, State.OUT, State.GOING)) {
      if (region.isFreed() || regions.containsKey(region)) {
        throw new IllegalStateException(region + " was freed before");
      }
      throw new IllegalArgumentException(region + " is not of this sub-allocator");
    }
    if (release(region) && refused.get() > 0) {
      retryOne();
    }
  }

  /** Frees a region that is {@link State#GOING}; false if it is kept. */
  private boolean release(MemoryRegion region) {
    try {
      wrapped().free(region);
    } catch (Throwable refusal) {
      if (!region.isFreed()) {
        keep(region, refusal);
        return false;
      }
      // Code between here and the system that was told of it failed: the region has gone.
      log(Level.WARNING, "a region went back to the system, but not without a failure", refusal);
    }
    regions.remove(region);
    return true;
  }

  private void keep(MemoryRegion region, Throwable refusal) {
    lastRefusal = refusal;
    regions.put(region, State.REFUSED);
    Level level = refused.getAndIncrement() == 0 ? Level.WARNING : Level.DEBUG;
    log(level, "a region cannot go back to the system now; it is tried again", refusal);
  }

  /** What is said must not do harm: there may be no heap for it. */
  private static void log(Level level, String message, Throwable failure) {
    try {
      LOGGER.log(level, message, failure);
    } catch (Throwable unsaid) {
      // It stays unlogged.
    }
  }

  private void retryOne() {
    try {
      for (Map.Entry<MemoryRegion, State> entry : regions.entrySet()) {
        if (entry.getValue() == State.REFUSED) {
          retry(entry.getKey());
          return;
        }
      }
    } catch (OutOfMemoryError noHeap) {
      // The next free tries again.
    }
  }

  private boolean retry(MemoryRegion region) {
    if (!regions.replace(region, State.REFUSED, State.GOING)) {
      return false;
    }
    refused.decrementAndGet();
    return release(region);
  }

  /**
   * Tries to give back all that was refused.
   *
   * <p>Threading: any thread.
   *
   * @return how many bytes went, from 0
   */
  public long retry() {
    if (refused.get() == 0) {
      return 0;
    }
    long bytes = 0;
    for (Map.Entry<MemoryRegion, State> entry : regions.entrySet()) {
      MemoryRegion region = entry.getKey();
      if (entry.getValue() == State.REFUSED && retry(region)) {
        bytes += region.sizeBytes();
      }
    }
    return bytes;
  }

  /**
   * {@link #retry}, for an allocator that is closed.
   *
   * <p>Threading: any thread.
   *
   * @param allocator its name, for the message
   * @throws IllegalStateException if something is still refused; the cause is the last refusal
   */
  public void returnAll(String allocator) {
    retry();
    int count = refused.get();
    if (count == 0) {
      return;
    }
    long bytes = 0;
    for (Map.Entry<MemoryRegion, State> entry : regions.entrySet()) {
      bytes += entry.getValue() == State.REFUSED ? entry.getKey().sizeBytes() : 0;
    }
    throw new IllegalStateException(
        "allocator "
            + allocator
            + " is closed, but the system did not take back "
            + count
            + (count == 1 ? " region of " : " regions of ")
            + bytes
            + " bytes; close() tries again",
        lastRefusal);
  }
}
