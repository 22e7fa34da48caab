package io.prmalloc.jmh.rival;

import io.prmalloc.pool.PoolStats;
import io.prmalloc.pool.TensorPoolAllocator;
import java.util.Locale;

/** Shared code of all strategies that use the pool. Threading: any thread. */
final class Pools {

  private Pools() {}

  /** A pool that learns from the first step on and packs on the thread that closes a step. */
  static TensorPoolAllocator learning() {
    return TensorPoolAllocator.builder().startStatisticStep(0).executor(Runnable::run).build();
  }

  /** A pool as a server has it: it learns when it does by default, and plans in the background. */
  static TensorPoolAllocator serving() {
    return TensorPoolAllocator.builder().build();
  }

  /** An address that was asked for, if it was available. */
  static long had(long address, long bytes) {
    if (address == 0) {
      throw new IllegalStateException(bytes + " bytes are not available");
    }
    return address;
  }

  static String report(TensorPoolAllocator pool) {
    PoolStats stats = pool.poolStats();
    if (!pool.isPooling()) {
      return String.format(
          Locale.ROOT,
          "pool: no plan; %,d requests larger than what slabs serve, %,d small",
          stats.unpooledRequests(),
          stats.smallRequests());
    }
    return String.format(
        Locale.ROOT,
        "pool: %,d hits, %,d misses, %,d of sizes not planned, %,d small, arena %,d bytes",
        stats.hits(),
        stats.misses(),
        stats.nullBins(),
        stats.smallRequests(),
        stats.arenaBytes());
  }
}
