package io.prmalloc;

import io.prmalloc.internal.block.HeapBlock;
import java.util.HashMap;
import java.util.Map;

/**
 * Counts the memory that one user takes: the bytes allocated through this wrapper now, at most, and
 * in all. The statistics of the wrapped allocator are unaffected. One wrapper per operation or
 * request, any number of them around one allocator.
 *
 * <pre>{@code
 * TrackingAllocator tracker = new TrackingAllocator(pool, true);
 * run(operation, tracker);
 * TrackingAllocator.Sizes sizes = tracker.getSizesAndUnref();
 * }</pre>
 *
 * <p>Sizes are those <em>allocated</em>, that is with rounding and headers, where the allocator
 * behind tracks sizes or this one does it. Where neither does, only the total is counted, of the
 * bytes requested, and the other two stay 0.
 *
 * <p>Memory may outlive the operation: the wrapper lives until its sizes were asked for
 * <em>and</em> the last allocation came back, then it retires.
 *
 * <p>TensorFlow's {@code TrackingAllocator}.
 *
 * <p>Threading: as {@link Allocator} says; the counters are kept under one lock, the allocator
 * behind is called outside it.
 */
public final class TrackingAllocator extends AllocatorWrapper {

  // References: one of the owner, given up by getSizesAndUnref, and one per live allocation. The
  // wrapper is retired when none is left.
  //
  // Where sizes are tracked:
  //
  //   in the allocator behind      its allocatedSize is counted; nothing is kept here
  //   else here, if told to        a Chunk per live address is kept here; allocated is what
  //                                allocatedSizeSlow says, and at least what was requested
  //   else nowhere                 total += requested
  //
  // An allocation is counted after it succeeded, so a failure leaves everything as it was. A
  // release is counted before the memory goes back, as another thread may get the same address a
  // moment later; should the allocator behind refuse, the counting is undone.
  //
  // A handle is one around the inner handle, which knows its own size; the address is only for
  // callers that ask by address, and where this JVM cannot tell addresses none can.

  /**
   * What was counted.
   *
   * <p>Threading: immutable.
   *
   * @param totalBytes all bytes allocated through the wrapper, given back or not
   * @param highWatermarkBytes the most that was allocated at a time
   * @param allocatedBytes what is still allocated
   */
  public record Sizes(long totalBytes, long highWatermarkBytes, long allocatedBytes) {}

  /** What a handle's block must know when it is closed. */
  private static final class Held {
    final Allocation inner;
    final long address;

    /** Written and read under the lock. */
    Chunk chunk;

    Held(Allocation inner, long address) {
      this.inner = inner;
      this.address = address;
    }
  }

  private final boolean innerTracks;
  private final boolean tracksLocally;

  private final Object lock = new Object();
  private final Map<Long, Chunk> handles = new HashMap<>();
  private final Map<Long, Chunk> rawAddresses = new HashMap<>();
  private long allocatedBytes;
  private long highWatermarkBytes;
  private long totalBytes;
  private long liveAllocations;
  private long lastId;
  private boolean unreferenced;

  /**
   * Threading: any thread.
   *
   * @param allocator where the memory comes from; stays the caller's, and {@link #close} leaves it
   *     open
   * @param trackSizesLocally whether to keep sizes and ids here if the allocator does not track
   *     them; if it does, this has no effect
   * @throws NullPointerException if {@code allocator} is null
   */
  public TrackingAllocator(Allocator allocator, boolean trackSizesLocally) {
    super(allocator);
    this.innerTracks = allocator.tracksAllocationSizes();
    this.tracksLocally = trackSizesLocally && !innerTracks;
  }

  @Override
  public Allocation allocate(long bytes) {
    return allocate(bytes, DEFAULT_ALIGNMENT);
  }

  @Override
  public Allocation allocate(long bytes, long alignment) {
    checkReferenced();
    return hold(wrapped().allocate(bytes, alignment));
  }

  @Override
  public Allocation allocate(long bytes, long alignment, AllocationAttributes attributes) {
    checkReferenced();
    return hold(wrapped().allocate(bytes, alignment, attributes));
  }

  private Allocation hold(Allocation inner) {
    try {
      Held held = new Held(inner, tracksLocally ? inner.addressOrZero() : 0);
      Allocation handle = HeapBlock.around(inner, this::release, held);
      long allocated = innerTracks ? inner.blockBytes() : sizeBehind(held.address);
      synchronized (lock) {
        held.chunk = count(handles, held.address, inner.sizeBytes(), allocated);
      }
      return handle;
    } catch (Throwable e) {
      inner.close();
      throw e;
    }
  }

  @Override
  public long allocateRaw(long alignment, long bytes) {
    checkReferenced();
    return hold(wrapped().allocateRaw(alignment, bytes), bytes);
  }

  @Override
  public long allocateRaw(long alignment, long bytes, AllocationAttributes attributes) {
    checkReferenced();
    return hold(wrapped().allocateRaw(alignment, bytes, attributes), bytes);
  }

  private long hold(long address, long bytes) {
    if (address == 0) {
      return 0;
    }
    try {
      long allocated = sizeBehind(address);
      synchronized (lock) {
        count(rawAddresses, address, bytes, allocated);
      }
      return address;
    } catch (Throwable e) {
      wrapped().deallocateRaw(address);
      throw e;
    }
  }

  /** What the allocator behind says it allocated, 0 if it does not or nothing is to be counted. */
  private long sizeBehind(long address) {
    if (innerTracks) {
      return wrapped().allocatedSize(address);
    }
    return tracksLocally && address != 0 ? wrapped().allocatedSizeSlow(address) : 0;
  }

  /**
   * Counts an allocation.
   *
   * @param address where it is, or 0 if that is not to be kept
   * @throws IllegalStateException if the owner's reference went meanwhile; nothing is counted then
   */
  private Chunk count(Map<Long, Chunk> inUse, long address, long requested, long allocated) {
    if (unreferenced) {
      throw unreferenced();
    }
    liveAllocations++;
    if (!tracksAllocationSizes()) {
      totalBytes += requested;
      return new Chunk(requested, 0, 0);
    }
    long counted = Math.max(requested, allocated);
    allocatedBytes += counted;
    highWatermarkBytes = Math.max(highWatermarkBytes, allocatedBytes);
    totalBytes += counted;
    Chunk chunk = new Chunk(requested, counted, tracksLocally ? ++lastId : 0);
    if (tracksLocally && address != 0) {
      inUse.put(address, chunk);
    }
    return chunk;
  }

  private void release(HeapBlock block) {
    Held held = (Held) block.ticket();
    synchronized (lock) {
      handles.remove(held.address);
      uncount(held.chunk);
    }
    held.inner.close();
  }

  @Override
  public void deallocateRaw(long address) {
    if (address == 0) {
      return;
    }
    long allocated = innerTracks ? wrapped().allocatedSize(address) : 0;
    Chunk chunk;
    synchronized (lock) {
      chunk = tracksLocally ? rawAddresses.remove(address) : new Chunk(0, allocated, 0);
      if (chunk == null || liveAllocations == 0 || chunk.allocatedBytes() > allocatedBytes) {
        throw notOurs(address);
      }
      uncount(chunk);
    }
    try {
      wrapped().deallocateRaw(address);
    } catch (Throwable e) {
      recount(address, chunk);
      throw e;
    }
  }

  private void uncount(Chunk chunk) {
    liveAllocations--;
    allocatedBytes -= chunk.allocatedBytes();
  }

  private void recount(long address, Chunk chunk) {
    synchronized (lock) {
      liveAllocations++;
      allocatedBytes += chunk.allocatedBytes();
      if (tracksLocally) {
        rawAddresses.put(address, chunk);
      }
    }
  }

  private IllegalArgumentException notOurs(long address) {
    return new IllegalArgumentException(
        "address 0x"
            + Long.toHexString(address)
            + " is not one that this tracker of "
            + name()
            + " gave out and has not got back");
  }

  @Override
  public boolean tracksAllocationSizes() {
    return innerTracks || tracksLocally;
  }

  @Override
  public long requestedSize(long address) {
    return tracksLocally ? chunk(address).requestedBytes() : wrapped().requestedSize(address);
  }

  @Override
  public long allocatedSize(long address) {
    return tracksLocally ? chunk(address).allocatedBytes() : wrapped().allocatedSize(address);
  }

  @Override
  public long allocationId(long address) {
    return tracksLocally ? chunk(address).allocationId() : wrapped().allocationId(address);
  }

  @Override
  public long allocatedSizeSlow(long address) {
    return tracksLocally ? allocatedSize(address) : wrapped().allocatedSizeSlow(address);
  }

  private Chunk chunk(long address) {
    synchronized (lock) {
      Chunk chunk =
          rawAddresses.containsKey(address) ? rawAddresses.get(address) : handles.get(address);
      if (chunk == null) {
        throw notOurs(address);
      }
      return chunk;
    }
  }

  /** What was counted so far. Threading: any thread. */
  public Sizes sizes() {
    synchronized (lock) {
      return new Sizes(totalBytes, highWatermarkBytes, allocatedBytes);
    }
  }

  /**
   * What was counted, and gives up the owner's reference: nothing can be allocated from then on,
   * what is out can be given back.
   *
   * <p>Threading: any thread; of several one wins.
   *
   * @throws IllegalStateException if it was called before
   */
  public Sizes getSizesAndUnref() {
    synchronized (lock) {
      if (unreferenced) {
        throw unreferenced();
      }
      unreferenced = true;
      return new Sizes(totalBytes, highWatermarkBytes, allocatedBytes);
    }
  }

  /**
   * Whether the owner's reference was given up and everything came back. Threading: any thread;
   * true stays true.
   */
  public boolean isRetired() {
    synchronized (lock) {
      return unreferenced && liveAllocations == 0;
    }
  }

  private void checkReferenced() {
    synchronized (lock) {
      if (unreferenced) {
        throw unreferenced();
      }
    }
  }

  private IllegalStateException unreferenced() {
    return new IllegalStateException(
        "the owner's reference to this tracker of " + name() + " was given up before");
  }

  /**
   * Gives up the owner's reference if {@link #getSizesAndUnref} did not. The allocator behind stays
   * open.
   *
   * @throws IllegalStateException if memory is still in use; nothing changes then
   */
  @Override
  public void close() {
    synchronized (lock) {
      if (liveAllocations > 0) {
        throw new IllegalStateException(
            "tracker of " + name() + " still has " + liveAllocations + " allocations in use");
      }
      unreferenced = true;
    }
  }
}
