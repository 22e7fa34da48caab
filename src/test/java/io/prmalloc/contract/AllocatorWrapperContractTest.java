package io.prmalloc.contract;

import io.prmalloc.Allocator;
import io.prmalloc.AllocatorWrapper;
import io.prmalloc.CpuAllocator;
import io.prmalloc.SubAllocator;

/** A wrapper that overrides nothing behaves as the allocator that it wraps. */
class AllocatorWrapperContractTest extends AllocatorContractTest {

  @Override
  Allocator create(SubAllocator source) {
    return new AllocatorWrapper(new CpuAllocator(source));
  }
}
