package io.prmalloc.fault;

import io.prmalloc.MemoryRegion;
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
    wrapped().free(((Supplied) region).inner);
  }

  private static final class Supplied extends MemoryRegion {
    private final MemoryRegion inner;

    Supplied(MemoryRegion inner) {
      super(inner.buffer(), inner.sizeBytes());
      this.inner = inner;
    }

    @Override
    public long usableBytes() {
      InjectionPoints.userCode();
      return inner.usableBytes();
    }

    @Override
    public long address() {
      InjectionPoints.userCode();
      return inner.address();
    }

    @Override
    public long discard(long offset, long bytes) {
      InjectionPoints.userCode();
      return inner.discard(offset, bytes);
    }

    @Override
    public boolean populate() {
      InjectionPoints.userCode();
      return inner.populate();
    }

    @Override
    public void free() {
      InjectionPoints.userCode();
      inner.free();
    }

    @Override
    public boolean isFreed() {
      InjectionPoints.userCode();
      return inner.isFreed();
    }
  }
}
