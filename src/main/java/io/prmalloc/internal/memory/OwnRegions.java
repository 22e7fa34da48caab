package io.prmalloc.internal.memory;

import io.prmalloc.MemoryRegion;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The regions that a sub-allocator gave out. A free claims the region first, so exactly one of
 * several frees wins.
 *
 * <p>Threading: any thread, without a lock.
 */
final class OwnRegions {

  // Regions compare by identity. A region that is being freed stays until it is: were it taken out
  // and the system refused, there might be no heap to put it in again.

  /** Whether they are being freed. */
  private final ConcurrentHashMap<MemoryRegion, Boolean> regions = new ConcurrentHashMap<>();

  void add(MemoryRegion region) {
    regions.put(region, false);
  }

  /**
   * Gets a region to be freed. Takes no heap.
   *
   * @throws IllegalStateException if it was freed before, or somebody is about it
   * @throws IllegalArgumentException if it was never in here
   */
  void claim(MemoryRegion region) {
    Objects.requireNonNull(region, "region");
    if (!regions.replace(region, false, true)) {
      if (region.isFreed() || regions.containsKey(region)) {
        throw new IllegalStateException(region + " was freed before");
      }
      throw new IllegalArgumentException(region + " is not of this sub-allocator");
    }
  }

  /** A claimed region could not be freed. Takes no heap. */
  void giveUp(MemoryRegion region) {
    regions.replace(region, false);
  }

  /** A claimed region is freed. */
  void remove(MemoryRegion region) {
    regions.remove(region);
  }
}
