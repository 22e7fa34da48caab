package io.prmalloc.contract;

import io.prmalloc.Allocator;
import io.prmalloc.AllocatorWrapper;
import io.prmalloc.TrackingAllocator;

/** A tracker whose close also closes the wrapped allocator, as the contract's tests expect. */
public final class OwningTracker extends AllocatorWrapper {

  private final Allocator behind;

  public OwningTracker(Allocator behind, boolean trackSizesLocally) {
    super(new TrackingAllocator(behind, trackSizesLocally));
    this.behind = behind;
  }

  @Override
  public void close() {
    behind.close();
    super.close();
  }
}
