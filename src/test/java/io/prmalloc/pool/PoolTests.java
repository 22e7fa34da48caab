package io.prmalloc.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.SubAllocator;
import io.prmalloc.lifetime.ScopedMemoryCollector;
import java.util.List;

/** A base of tests with one open pool, warm or not, whose memory is checked at the end. */
public abstract class PoolTests {

  protected static final int KIB = 1024;
  protected static final int MIB = 1 << 20;

  protected final SubAllocator source = SubAllocator.direct();

  protected static TensorPoolBuilder builder(SubAllocator source) {
    return TensorPoolAllocator.builder()
        .subAllocator(source)
        .planner(Steps.planner(1))
        .executor(Runnable::run);
  }

  protected TensorPoolAllocator pool() {
    return builder(source).build();
  }

  /** A pool that serves from a plan with one block for each size, header included. */
  protected TensorPoolAllocator pooling(long... totals) {
    TensorPoolAllocator pool = pool();
    Pools.learn(pool, totals);
    assertTrue(pool.isPooling());
    return pool;
  }

  protected static void step(TensorPoolAllocator pool, Runnable work) {
    ScopedMemoryCollector step = pool.collect();
    work.run();
    step.close();
  }

  protected void closeAndCheck(TensorPoolAllocator pool) {
    assertEquals(0, pool.stats().bytesInUse());
    pool.close();
    assertEquals(0, source.bytesReserved());
  }

  protected static void assertCounts(
      TensorPoolAllocator pool, long hits, long misses, long nullBins, long small, long unpooled) {
    PoolStats stats = pool.poolStats();
    assertEquals(
        List.of(hits, misses, nullBins, small, unpooled),
        List.of(
            stats.hits(),
            stats.misses(),
            stats.nullBins(),
            stats.smallRequests(),
            stats.unpooledRequests()),
        "hits, misses, null bins, small, unpooled");
    assertEquals(hits + small + unpooled, pool.stats().numAllocs());
  }
}
