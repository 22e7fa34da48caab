package io.prmalloc.internal.memory;

import io.prmalloc.MemoryRegion;
import io.prmalloc.internal.os.MallocHeap;
import io.prmalloc.internal.os.OperatingSystem;
import java.util.function.Supplier;

/**
 * Memory from a malloc: the C library's, or that of a library loaded by name.
 *
 * <p>Threading: any thread.
 */
public final class MallocSubAllocator extends LimitedSubAllocator {

  private final Supplier<MallocHeap> heap;

  /**
   * @param heap asked at every allocation, so that native calls may be tried as late as then
   */
  public MallocSubAllocator(Supplier<MallocHeap> heap, long limitBytes) {
    super(limitBytes);
    this.heap = heap;
  }

  @Override
  long regionBytes(long alignment, long bytes) {
    return bytes;
  }

  @Override
  public void checkUsable() {
    OperatingSystem.requireNativeCalls("memory from malloc");
  }

  @Override
  MemoryRegion take(long alignment, long bytes) {
    return heap.get().allocate(alignment, bytes);
  }
}
