package io.prmalloc.contract;

import io.prmalloc.Allocator;
import io.prmalloc.CpuAllocator;
import io.prmalloc.SubAllocator;

/** What the interface's own methods make of an allocator with only the necessary ones. */
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
