package io.prmalloc;

/** A tracker over the pool when it serves from its plan. */
class TrackingOverPoolTest extends PooledPoolTest {

  @Override
  public Allocator create(SubAllocator source) {
    return new OwningTracker(super.create(source), true);
  }
}
