package io.prmalloc;

import io.prmalloc.os.MemoryRegion;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The regions that a sub-allocator gave out. Taking one out of here is what makes exactly one of
 * several frees win.
 *
 * <p>Threading: any thread, without a lock.
 */
final class OwnRegions {

  // Regions compare by identity.
  private final Set<MemoryRegion> regions = ConcurrentHashMap.newKeySet();

  void add(MemoryRegion region) {
    regions.add(region);
  }

  /**
   * Takes a region out, to be freed.
   *
   * @throws IllegalStateException if it was freed before
   * @throws IllegalArgumentException if it was never in here
   */
  void remove(MemoryRegion region) {
    Objects.requireNonNull(region, "region");
    if (!regions.remove(region)) {
      if (region.isFreed()) {
        throw new IllegalStateException(region + " was freed before");
      }
      throw new IllegalArgumentException(region + " is not of this sub-allocator");
    }
  }
}
