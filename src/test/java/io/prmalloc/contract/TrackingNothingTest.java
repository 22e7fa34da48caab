package io.prmalloc.contract;

import io.prmalloc.Allocator;
import io.prmalloc.CpuAllocator;
import io.prmalloc.SubAllocator;

/** The contract for a tracker that does not keep sizes, over an allocator that does not either. */
class TrackingNothingTest extends AllocatorContractTest {

  @Override
  Allocator create(SubAllocator source) {
    return new OwningTracker(new MinimalAllocator(new CpuAllocator(source)), false);
  }

  @Override
  boolean tracks() {
    return false;
  }

  @Override
  boolean isComplete() {
    return false;
  }
}
