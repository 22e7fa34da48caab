package io.prmalloc.internal.extent;

import io.prmalloc.MemoryRegion;
import io.prmalloc.OutOfNativeMemoryException;
import io.prmalloc.OutOfNativeMemoryException.Limit;
import io.prmalloc.SubAllocator;
import io.prmalloc.SubAllocatorWrapper;
import io.prmalloc.internal.block.ReservationGate;
import io.prmalloc.internal.os.DirectRegion;

/**
 * A pool's sub-allocator as arenas and slabs see it, which take memory beside the {@link LiveHeap}:
 * before it refuses, the heap gives back the regions of which nothing is in use.
 *
 * <p>Threading: any thread.
 */
public final class SourceBesideHeap extends SubAllocatorWrapper {

  private final LiveHeap heap;
  private final ReservationGate gate;
  private final boolean forPlans;

  /**
   * @param gate closed while a refused request tries again. Then nothing is reserved for plans; and
   *     for requests the sub-allocator is asked although it has too little by its own account, as
   *     in {@link LiveHeap}
   * @param forPlans whether memory is for plans, and not for a request
   */
  public SourceBesideHeap(
      SubAllocator source, LiveHeap heap, ReservationGate gate, boolean forPlans) {
    super(source);
    this.heap = heap;
    this.gate = gate;
    this.forPlans = forPlans;
  }

  @Override
  public MemoryRegion alloc(long alignment, long bytes) {
    if (bytes > wrapped().bytesAvailable()) {
      heap.releaseUnused();
    }
    boolean insists = !forPlans && gate.isClosed();
    boolean givesWay = forPlans && gate.isClosed();
    if (givesWay || (!insists && bytes > wrapped().bytesAvailable())) {
      throw refusal(wrapped(), bytes);
    }
    try {
      return wrapped().alloc(alignment, bytes);
    } catch (OutOfNativeMemoryException refused) {
      if (heap.releaseUnused() == 0) {
        throw refused;
      }
      return wrapped().alloc(alignment, bytes);
    }
  }

  /** What a sub-allocator would throw that has too little by its own accounting. */
  public static OutOfNativeMemoryException refusal(SubAllocator source, long bytes) {
    long reserved = source.bytesReserved();
    long own = source.bytesLimit().orElse(Long.MAX_VALUE);
    return own - reserved < bytes
        ? new OutOfNativeMemoryException(bytes, reserved, own, Limit.SUB_ALLOCATOR, null)
        : new OutOfNativeMemoryException(
            bytes, reserved, DirectRegion.limitBytes(), Limit.DIRECT_MEMORY, null);
  }

  /** {@inheritDoc} And what the heap would give back. */
  @Override
  public long bytesAvailable() {
    long available = wrapped().bytesAvailable();
    return available == Long.MAX_VALUE ? available : available + heap.unusedBytes();
  }
}
