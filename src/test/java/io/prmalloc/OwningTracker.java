package io.prmalloc;

/** A tracker that closes the allocator behind it, as the contract's tests expect. */
final class OwningTracker extends AllocatorWrapper {

  private final Allocator behind;

  OwningTracker(Allocator behind, boolean trackSizesLocally) {
    super(new TrackingAllocator(behind, trackSizesLocally));
    this.behind = behind;
  }

  @Override
  public void close() {
    behind.close();
    super.close();
  }
}
