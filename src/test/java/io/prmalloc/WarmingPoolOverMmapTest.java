package io.prmalloc;

/** The same over mappings. */
class WarmingPoolOverMmapTest extends WarmingPoolTest {

  @Override
  SubAllocator unlimited() {
    return SubAllocator.mmap(MmapOptions.DEFAULT);
  }

  @Override
  SubAllocator limited(long limitBytes) {
    return SubAllocator.mmap(MmapOptions.DEFAULT.withLimitBytes(limitBytes));
  }
}
