package io.prmalloc.contract;

import io.prmalloc.Allocator;
import io.prmalloc.SubAllocator;

/** The contract for a tracker over the pool when it serves from its plan. */
class TrackingOverPoolTest extends PooledPoolTest {

  @Override
  public Allocator create(SubAllocator source) {
    return new OwningTracker(super.create(source), true);
  }
}
