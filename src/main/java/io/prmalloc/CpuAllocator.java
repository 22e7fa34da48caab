package io.prmalloc;

/**
 * The plain default: every allocation is a region of its own from a {@link SubAllocator}, and goes
 * straight back.
 *
 * <p>Modelled on TensorFlow's {@code CPUAllocator}.
 *
 * <p>Threading: as {@link Allocator} says.
 */
public final class CpuAllocator implements Allocator {

  private final RegionHeap heap;
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
    return "cpu";
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
    return heap.acquire(bytes, alignment, 0, null).open(bytes);
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
    Requests.totalBytes(bytes, header);
    try {
      Block block = heap.acquire(bytes, alignment, header, null);
      block.openRaw(bytes, header);
      return block.region().address() + header;
    } catch (OutOfNativeMemoryException notToBeHad) {
      return 0;
    }
  }

  @Override
  public void deallocateRaw(long address) {
    if (address == 0) {
      return;
    }
    Block block = heap.findRaw(address);
    if (block == null || !block.closeRaw()) {
      throw new IllegalArgumentException(
          "address 0x"
              + Long.toHexString(address)
              + " is not of allocator "
              + name()
              + ", or was given back before");
    }
  }

  @Override
  public AllocatorStats stats() {
    return heap.stats();
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    if (!heap.close()) {
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
  }

  private void checkOpen() {
    if (closed) {
      throw new IllegalStateException("allocator " + name() + " is closed");
    }
  }
}
