package io.prmalloc.internal.extent;

import io.prmalloc.MemoryRegion;
import io.prmalloc.OutOfNativeMemoryException;
import io.prmalloc.OutOfNativeMemoryException.Limit;
import io.prmalloc.SubAllocator;
import io.prmalloc.SubAllocatorWrapper;
import io.prmalloc.internal.block.ReservationGate;
import io.prmalloc.internal.memory.DirectSubAllocator;
import io.prmalloc.internal.memory.LimitedSubAllocator;
import io.prmalloc.internal.os.DirectRegion;

/**
 * The sub-allocator from which arenas and slabs take memory beside the {@link LiveHeap}. If the
 * limit or the system has too little for a request, the heap frees its empty regions first.
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
    if (givesWay) {
      throw giveWay(bytes);
    }
    if (!insists && bytes > wrapped().bytesAvailable()) {
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

  /** The limit that refuses a plan is the one that refused the request which goes before it. */
  private OutOfNativeMemoryException giveWay(long bytes) {
    OutOfNativeMemoryException refused = gate.refusal();
    return refused == null
        ? refusal(wrapped(), bytes)
        : new OutOfNativeMemoryException(
            bytes,
            wrapped().bytesReserved(),
            refused.limitBytes().orElse(LimitedSubAllocator.NO_LIMIT),
            refused.limit(),
            null);
  }

  /**
   * What a sub-allocator would throw that has too little by its own accounting. Names the limit
   * that is too low for so many bytes; if none is any more, the one that leaves least.
   */
  public static OutOfNativeMemoryException refusal(SubAllocator source, long bytes) {
    long reserved = source.bytesReserved();
    long most = source.bytesLimit().orElse(Long.MAX_VALUE);
    long own = most == Long.MAX_VALUE ? most : most - reserved;
    long jvm = isDirect(source) ? DirectRegion.bytesAvailable() : Long.MAX_VALUE;
    long known = source.bytesAvailable();
    if (own < bytes || (own < Long.MAX_VALUE && own <= jvm && own <= known)) {
      return new OutOfNativeMemoryException(bytes, reserved, most, Limit.SUB_ALLOCATOR, null);
    }
    if (jvm < bytes || (jvm < Long.MAX_VALUE && jvm <= known)) {
      return new OutOfNativeMemoryException(
          bytes, reserved, DirectRegion.limitBytes(), Limit.DIRECT_MEMORY, null);
    }
    // A sub-allocator of the user's may have less than its limit says.
    return known < Long.MAX_VALUE
        ? new OutOfNativeMemoryException(
            bytes, reserved, reserved + known, Limit.SUB_ALLOCATOR, null)
        : new OutOfNativeMemoryException(
            bytes, reserved, LimitedSubAllocator.NO_LIMIT, Limit.SYSTEM, null);
  }

  /** Whether the JVM's limit on direct memory applies. */
  private static boolean isDirect(SubAllocator source) {
    SubAllocator inner = source;
    while (inner instanceof SubAllocatorWrapper wrapper) {
      inner = wrapper.wrapped();
    }
    return inner instanceof DirectSubAllocator;
  }

  /** {@inheritDoc} And what the heap would give back. */
  @Override
  public long bytesAvailable() {
    long available = wrapped().bytesAvailable();
    return available == Long.MAX_VALUE ? available : available + heap.unusedBytes();
  }
}
