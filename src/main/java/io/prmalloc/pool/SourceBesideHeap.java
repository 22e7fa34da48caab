package io.prmalloc.pool;

import io.prmalloc.OutOfNativeMemoryException;
import io.prmalloc.SubAllocator;
import io.prmalloc.os.MemoryRegion;
import java.util.OptionalLong;

/**
 * A pool's sub-allocator as arenas and slabs see it, which take memory beside the {@link LiveHeap}:
 * before it refuses, the heap gives back the regions of which nothing is in use.
 *
 * <p>Threading: any thread.
 */
record SourceBesideHeap(SubAllocator source, LiveHeap heap) implements SubAllocator {

  @Override
  public MemoryRegion alloc(long alignment, long bytes) {
    // Where the JVM's limit is reached it takes its time to say so.
    if (bytes > source.bytesAvailable()) {
      heap.releaseUnused();
    }
    try {
      return source.alloc(alignment, bytes);
    } catch (OutOfNativeMemoryException refused) {
      if (heap.releaseUnused() == 0) {
        throw refused;
      }
      return source.alloc(alignment, bytes);
    }
  }

  @Override
  public void free(MemoryRegion region) {
    source.free(region);
  }

  @Override
  public boolean isResident() {
    return source.isResident();
  }

  @Override
  public boolean isGuarded() {
    return source.isGuarded();
  }

  @Override
  public long bytesReserved() {
    return source.bytesReserved();
  }

  @Override
  public OptionalLong bytesLimit() {
    return source.bytesLimit();
  }

  /** {@inheritDoc} And what the heap would give back. */
  @Override
  public long bytesAvailable() {
    long available = source.bytesAvailable();
    return available == Long.MAX_VALUE ? available : available + heap.unusedBytes();
  }
}
