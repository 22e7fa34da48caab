package io.prmalloc.contract;

import io.prmalloc.Allocation;
import io.prmalloc.Allocator;
import io.prmalloc.AllocatorStats;

/** An allocator that implements only the required methods, over one that implements all. */
public final class MinimalAllocator implements Allocator {

  private final Allocator inner;

  public MinimalAllocator(Allocator inner) {
    this.inner = inner;
  }

  @Override
  public String name() {
    return "minimal";
  }

  @Override
  public Allocation allocate(long bytes) {
    return inner.allocate(bytes);
  }

  @Override
  public Allocation allocate(long bytes, long alignment) {
    return inner.allocate(bytes, alignment);
  }

  @Override
  public long allocateRaw(long alignment, long bytes) {
    return inner.allocateRaw(alignment, bytes);
  }

  @Override
  public void deallocateRaw(long address) {
    inner.deallocateRaw(address);
  }

  @Override
  public AllocatorStats stats() {
    return inner.stats();
  }

  @Override
  public void close() {
    inner.close();
  }
}
