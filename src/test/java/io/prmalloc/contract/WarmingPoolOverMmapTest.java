package io.prmalloc.contract;

import io.prmalloc.MmapOptions;
import io.prmalloc.SubAllocator;

/**
 * The contract for the pool before it has a plan, with a step open so that every request is
 * tracked, over mappings.
 */
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
