package io.prmalloc.contract;

import io.prmalloc.Allocator;
import io.prmalloc.CpuAllocator;
import io.prmalloc.SubAllocator;

/** The contract for a tracker over an allocator that tracks sizes itself. */
class TrackingOverCpuTest extends AllocatorContractTest {

  @Override
  Allocator create(SubAllocator source) {
    return new OwningTracker(new CpuAllocator(source), false);
  }
}
