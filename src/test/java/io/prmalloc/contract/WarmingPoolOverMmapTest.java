package io.prmalloc.contract;

import io.prmalloc.MmapOptions;
import io.prmalloc.SubAllocator;

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
