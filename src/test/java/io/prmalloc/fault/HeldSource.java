package io.prmalloc.fault;

import io.prmalloc.MemoryRegion;
import io.prmalloc.SubAllocator;
import io.prmalloc.SubAllocatorWrapper;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.OptionalLong;
import java.util.Set;

/**
 * A sub-allocator of the pool's user, each method of which may throw. Tracks which regions are in
 * use.
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
    InjectionPoints.userCode();
    MemoryRegion region = wrapped().alloc(alignment, bytes);
    synchronized (this) {
      held.add(region);
    }
    return region;
  }

  @Override
  public void free(MemoryRegion region) {
    InjectionPoints.userCode();
    try {
      wrapped().free(region);
    } catch (Throwable e) {
      if (region.isFreed()) {
        // A visitor's failure is told when the region has gone.
        forget(region);
      }
      throw e;
    }
    forget(region);
  }

  private synchronized void forget(MemoryRegion region) {
    held.remove(region);
  }

  @Override
  public boolean isResident() {
    InjectionPoints.userCode();
    return super.isResident();
  }

  @Override
  public boolean isGuarded() {
    InjectionPoints.userCode();
    return super.isGuarded();
  }

  @Override
  public void checkUsable() {
    InjectionPoints.userCode();
    super.checkUsable();
  }

  @Override
  public long bytesReserved() {
    InjectionPoints.userCode();
    return super.bytesReserved();
  }

  @Override
  public OptionalLong bytesLimit() {
    InjectionPoints.userCode();
    return super.bytesLimit();
  }

  @Override
  public long bytesAvailable() {
    InjectionPoints.userCode();
    return super.bytesAvailable();
  }
}
