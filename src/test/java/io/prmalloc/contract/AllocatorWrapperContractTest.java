package io.prmalloc.contract;

import io.prmalloc.Allocator;
import io.prmalloc.AllocatorWrapper;
import io.prmalloc.CpuAllocator;
import io.prmalloc.SubAllocator;

/** The wrapper changes nothing. */
class AllocatorWrapperContractTest extends AllocatorContractTest {

  @Override
  Allocator create(SubAllocator source) {
    return new AllocatorWrapper(new CpuAllocator(source));
  }
}
