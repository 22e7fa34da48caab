package io.prmalloc.contract;

import io.prmalloc.Isolation;
import io.prmalloc.MmapOptions;
import io.prmalloc.SubAllocator;
import org.junit.jupiter.api.Nested;

/** The contract for a pool with isolation. */
class IsolatedPoolTest {

  private static final Isolation ALL =
      Isolation.NONE.withFill(Isolation.Fill.POISON).withCanaries(true);

  @Nested
  class Warming extends WarmingPoolTest {
    @Override
    Isolation isolation() {
      return ALL;
    }
  }

  @Nested
  class Pooled extends PooledPoolTest {
    @Override
    Isolation isolation() {
      return ALL;
    }
  }

  @Nested
  class Guarded extends PooledPoolTest {
    @Override
    Isolation isolation() {
      return ALL;
    }

    @Override
    SubAllocator unlimited() {
      return SubAllocator.mmap(MmapOptions.DEFAULT.withGuardPages(true));
    }

    @Override
    SubAllocator limited(long limitBytes) {
      return SubAllocator.mmap(MmapOptions.DEFAULT.withGuardPages(true).withLimitBytes(limitBytes));
    }
  }
}
