package io.prmalloc.contract;

import io.prmalloc.Allocator;
import io.prmalloc.CpuAllocator;
import io.prmalloc.SubAllocator;

/** The contract for a tracker that keeps the sizes, over an allocator that does not. */
class TrackingLocallyTest extends AllocatorContractTest {

  @Override
  Allocator create(SubAllocator source) {
    return new OwningTracker(new MinimalAllocator(new CpuAllocator(source)), true);
  }

  @Override
  boolean isComplete() {
    return false;
  }

  @Override
  boolean logsIds() {
    return false;
  }
}
