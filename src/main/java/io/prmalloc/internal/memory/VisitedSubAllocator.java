package io.prmalloc.internal.memory;

import io.prmalloc.MemoryRegion;
import io.prmalloc.RegionVisitor;
import io.prmalloc.SubAllocator;
import io.prmalloc.SubAllocatorWrapper;
import io.prmalloc.internal.block.Failures;
import java.util.List;

/**
 * Passes calls on to another sub-allocator, and calls visitors for every region.
 *
 * <p>Threading: any thread, without a lock.
 */
public final class VisitedSubAllocator extends SubAllocatorWrapper {

  // A visitor that fails must not lose memory, at either end:
  //
  //   alloc   visitor k throws: the k before it, which accepted the region, are told that it goes,
  //           and it goes. The caller gets k's exception.
  //   free    whichever throws, all visitors are told and the region goes. The first exception
  //           goes on, with the others attached. To keep the region instead would lose it, for
  //           callers that free memory have forgotten it by then.
  //
  // So visitors hear of a region's end exactly if they accepted its beginning. Ends are told in the
  // reverse order, as in TensorFlow.

  private final int index;
  private final List<RegionVisitor> visitors;
  private final OwnRegions regions = new OwnRegions();

  public VisitedSubAllocator(SubAllocator source, int index, List<RegionVisitor> visitors) {
    super(source);
    this.index = index;
    this.visitors = List.copyOf(visitors);
  }

  @Override
  public MemoryRegion alloc(long alignment, long bytes) {
    MemoryRegion region = wrapped().alloc(alignment, bytes);
    int told = 0;
    try {
      for (RegionVisitor visitor : visitors) {
        visitor.allocated(region, index, region.sizeBytes());
        told++;
      }
      regions.add(region);
      return region;
    } catch (Throwable failure) {
      release(region, told, failure);
      throw failure;
    }
  }

  @Override
  public void free(MemoryRegion region) {
    regions.claim(region);
    Throwable failure;
    try {
      failure = release(region, visitors.size(), null);
    } catch (Throwable refused) {
      regions.giveUp(region);
      throw refused;
    }
    regions.remove(region);
    Failures.throwIfAny(failure);
  }

  /**
   * Tells the first visitors that a region goes, and lets it go.
   *
   * @param failure what went wrong before, or null
   * @return the first failure, the others attached to it, or null
   */
  private Throwable release(MemoryRegion region, int told, Throwable failure) {
    Throwable first = failure;
    for (int i = told - 1; i >= 0; i--) {
      try {
        visitors.get(i).freeing(region, index, region.sizeBytes());
      } catch (Throwable e) {
        first = Failures.join(first, e);
      }
    }
    try {
      wrapped().free(region);
    } catch (Throwable refused) {
      if (first != null) {
        refused.addSuppressed(first);
      }
      throw refused;
    }
    return first;
  }
}
