package io.prmalloc.fault;

import io.prmalloc.MemoryRegion;
import io.prmalloc.SubAllocator;
import io.prmalloc.SubAllocatorWrapper;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;

/**
 * Tracks which regions of a sub-allocator are in use.
 *
 * <p>Threading: any thread.
 */
final class HeldSource extends SubAllocatorWrapper {

  // What is thrown in here, by the instrumented classes behind, is the sub-allocator's fault: it
  // must not keep what it did not hand over. So it is looked at like the rest.

  private final Set<MemoryRegion> held = Collections.newSetFromMap(new IdentityHashMap<>());

  HeldSource(SubAllocator source) {
    super(source);
  }

  /** How many regions are out. */
  synchronized int regions() {
    return held.size();
  }

  @Override
  public MemoryRegion alloc(long alignment, long bytes) {
    MemoryRegion region = wrapped().alloc(alignment, bytes);
    synchronized (this) {
      held.add(region);
    }
    return region;
  }

  @Override
  public void free(MemoryRegion region) {
    wrapped().free(region);
    synchronized (this) {
      held.remove(region);
    }
  }
}
