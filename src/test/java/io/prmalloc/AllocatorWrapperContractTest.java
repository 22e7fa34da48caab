package io.prmalloc;

/** The wrapper changes nothing. */
class AllocatorWrapperContractTest extends AllocatorContractTest {

  @Override
  Allocator create(SubAllocator source) {
    return new AllocatorWrapper(new CpuAllocator(source));
  }
}
