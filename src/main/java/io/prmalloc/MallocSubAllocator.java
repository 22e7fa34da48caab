package io.prmalloc;

import io.prmalloc.os.MallocHeap;
import io.prmalloc.os.MemoryRegion;
import io.prmalloc.os.OperatingSystem;
import java.util.function.Supplier;

/**
 * Memory from a malloc: the C library's, or that of a library loaded by name.
 *
 * <p>Threading: any thread.
 */
final class MallocSubAllocator extends LimitedSubAllocator {

  private final Supplier<MallocHeap> heap;

  /**
   * @param heap asked at every allocation, so that native calls may be tried as late as then
   */
  MallocSubAllocator(Supplier<MallocHeap> heap, long limitBytes) {
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
