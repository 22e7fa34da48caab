package io.prmalloc;

import io.prmalloc.internal.block.AllocationLog;
import io.prmalloc.internal.block.Block;
import io.prmalloc.internal.block.Requests;
import io.prmalloc.internal.memory.RegionHeap;

/**
 * The allocator without a pool: every allocation is a region of its own from a {@link
 * SubAllocator}, and is freed at once when it is closed.
 *
 * <p>Modelled on TensorFlow's {@code CPUAllocator}.
 *
 * <p>Threading: as {@link Allocator} says.
 */
public final class CpuAllocator implements Allocator {

  static final String NAME = "cpu";

  private final RegionHeap heap;
  private final AllocationLog log = new AllocationLog();
  private volatile boolean closed;

  /**
   * Threading: any thread.
   *
   * @param source where the memory comes from; stays the caller's
   */
  public CpuAllocator(SubAllocator source) {
    this.heap = new RegionHeap(source, ticket -> {});
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public Allocation allocate(long bytes) {
    return allocate(bytes, DEFAULT_ALIGNMENT);
  }

  @Override
  public Allocation allocate(long bytes, long alignment) {
    checkOpen();
    Requests.checkBytes(bytes);
    Requests.checkAlignment(alignment);
    try {
      return heap.acquire(bytes, alignment, 0, null).open(bytes);
    } catch (OutOfNativeMemoryException refused) {
      throw refused.forUser(bytes, heap.stats().bytesInUse());
    }
  }

  /**
   * {@inheritDoc} A header of this allocator is empty space of 64 bytes or the alignment, whichever
   * is more.
   */
  @Override
  public long allocateRaw(long alignment, long bytes) {
    checkOpen();
    Requests.checkAlignment(alignment);
    int header = (int) Math.max(DEFAULT_ALIGNMENT, alignment);
    Requests.checkBytes(bytes);
    try {
      Block block = heap.acquire(bytes, alignment, header, null);
      block.openRaw(bytes, header);
      return block.region().address() + header;
    } catch (OutOfNativeMemoryException notToBeHad) {
      return 0;
    }
  }

  @Override
  public long allocateRaw(long alignment, long bytes, AllocationAttributes attributes) {
    return log.allocateRaw(this, alignment, bytes, attributes);
  }

  @Override
  public void deallocateRaw(long address) {
    if (address == 0) {
      return;
    }
    Block block = heap.findRaw(address);
    if (block == null ? log.release(address) < 0 : !block.closeRaw()) {
      throw notOurs(address);
    }
  }

  private IllegalArgumentException notOurs(long address) {
    return new IllegalArgumentException(
        "address 0x"
            + Long.toHexString(address)
            + " is not of allocator "
            + name()
            + ", or was given back before");
  }

  @Override
  public boolean tracksAllocationSizes() {
    return true;
  }

  @Override
  public long requestedSize(long address) {
    return chunk(address).requestedBytes();
  }

  @Override
  public long allocatedSize(long address) {
    return chunk(address).allocatedBytes();
  }

  /** {@inheritDoc} Allocations are numbered in their order. */
  @Override
  public long allocationId(long address) {
    return chunk(address).allocationId();
  }

  private Chunk chunk(long address) {
    Chunk chunk = heap.chunkAt(address);
    if (chunk == null) {
      throw notOurs(address);
    }
    return chunk;
  }

  @Override
  public long allocatedSizeSlow(long address) {
    long bytes = heap.usableBytesAt(address);
    if (bytes == 0) {
      throw notOurs(address);
    }
    return bytes;
  }

  @Override
  public AllocatorStats stats() {
    return heap.stats();
  }

  @Override
  public boolean clearStats() {
    heap.clearStats();
    return true;
  }

  @Override
  public void close() {
    if (!closed && !heap.close()) {
      AllocatorStats stats = heap.stats();
      long live = heap.liveBlocks();
      throw new IllegalStateException(
          "allocator "
              + name()
              + " still has "
              + live
              + " allocations of "
              + stats.bytesInUse()
              + " bytes in use");
    }
    closed = true;
    heap.returnAll(name());
  }

  private void checkOpen() {
    if (closed) {
      throw new IllegalStateException("allocator " + name() + " is closed");
    }
  }
}
