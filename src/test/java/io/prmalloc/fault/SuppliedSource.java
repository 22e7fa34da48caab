package io.prmalloc.fault;

import io.prmalloc.MemoryRegion;
import io.prmalloc.RegionWrapper;
import io.prmalloc.SubAllocator;
import io.prmalloc.SubAllocatorWrapper;

/**
 * A sub-allocator whose regions are of a class of its user's.
 *
 * <p>Threading: any thread.
 */
final class SuppliedSource extends SubAllocatorWrapper {

  SuppliedSource(SubAllocator source) {
    super(source);
  }

  @Override
  public MemoryRegion alloc(long alignment, long bytes) {
    return new Supplied(wrapped().alloc(alignment, bytes));
  }

  @Override
  public void free(MemoryRegion region) {
    wrapped().free(((Supplied) region).wrapped());
  }

  private static final class Supplied extends RegionWrapper {

    Supplied(MemoryRegion inner) {
      super(inner);
    }

    @Override
    public long usableBytes() {
      InjectionPoints.userCode();
      return super.usableBytes();
    }

    @Override
    public long address() {
      InjectionPoints.userCode();
      return super.address();
    }

    @Override
    public long discard(long offset, long bytes) {
      InjectionPoints.userCode();
      return super.discard(offset, bytes);
    }

    @Override
    public boolean populate() {
      InjectionPoints.userCode();
      return super.populate();
    }

    @Override
    public void free() {
      InjectionPoints.userCode();
      super.free();
    }

    @Override
    public boolean isFreed() {
      InjectionPoints.userCode();
      return super.isFreed();
    }
  }
}
