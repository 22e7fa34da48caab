package io.prmalloc.contract;

import io.prmalloc.MmapOptions;
import io.prmalloc.SubAllocator;

/** The contract for the pool when it serves from its plan, over mappings. */
class PooledPoolOverMmapTest extends PooledPoolTest {

  @Override
  SubAllocator unlimited() {
    return SubAllocator.mmap(MmapOptions.DEFAULT);
  }

  @Override
  SubAllocator limited(long limitBytes) {
    return SubAllocator.mmap(MmapOptions.DEFAULT.withLimitBytes(limitBytes));
  }
}
