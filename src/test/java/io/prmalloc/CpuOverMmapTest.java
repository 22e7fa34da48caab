package io.prmalloc;

/** The plain allocator over mappings. */
class CpuOverMmapTest extends AllocatorContractTest {

  @Override
  Allocator create(SubAllocator source) {
    return new CpuAllocator(source);
  }

  @Override
  SubAllocator unlimited() {
    return SubAllocator.mmap(MmapOptions.DEFAULT);
  }

  @Override
  SubAllocator limited(long limitBytes) {
    return SubAllocator.mmap(MmapOptions.DEFAULT.withLimitBytes(limitBytes));
  }
}
