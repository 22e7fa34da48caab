package io.prmalloc.pool;

import io.prmalloc.OutOfNativeMemoryException;
import io.prmalloc.OutOfNativeMemoryException.Limit;
import io.prmalloc.SubAllocator;
import io.prmalloc.os.DirectRegion;
import io.prmalloc.os.MemoryRegion;
import java.util.OptionalLong;

/**
 * A pool's sub-allocator as arenas and slabs see it, which take memory beside the {@link LiveHeap}:
 * before it refuses, the heap gives back the regions of which nothing is in use.
 *
 * <p>Threading: any thread.
 *
 * @param insists whether the sub-allocator is asked although it has too little by its own account.
 *     At the JVM's limit that looks for forgotten buffers, which takes up to half a second: good
 *     for a request that is refused else, and not for a plan
 */
record SourceBesideHeap(SubAllocator source, LiveHeap heap, boolean insists)
    implements SubAllocator {

  @Override
  public MemoryRegion alloc(long alignment, long bytes) {
    if (bytes > source.bytesAvailable()) {
      heap.releaseUnused();
    }
    if (!insists && bytes > source.bytesAvailable()) {
      throw refusal(source, bytes);
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

  /** What a sub-allocator would say that has too little by its own account. */
  static OutOfNativeMemoryException refusal(SubAllocator source, long bytes) {
    long reserved = source.bytesReserved();
    long own = source.bytesLimit().orElse(Long.MAX_VALUE);
    return own - reserved < bytes
        ? new OutOfNativeMemoryException(bytes, reserved, own, Limit.SUB_ALLOCATOR, null)
        : new OutOfNativeMemoryException(
            bytes, reserved, DirectRegion.limitBytes(), Limit.DIRECT_MEMORY, null);
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
