package io.prmalloc.contract;

import io.prmalloc.Allocator;
import io.prmalloc.CpuAllocator;
import io.prmalloc.SubAllocator;

/** The interface's default methods, on an allocator that implements only the required methods. */
class MinimalAllocatorTest extends AllocatorContractTest {

  @Override
  Allocator create(SubAllocator source) {
    return new MinimalAllocator(new CpuAllocator(source));
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
