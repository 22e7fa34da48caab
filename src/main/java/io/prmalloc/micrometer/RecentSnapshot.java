package io.prmalloc.micrometer;

import io.prmalloc.pool.PoolSnapshot;
import io.prmalloc.pool.TensorPoolAllocator;
import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * The last snapshot of a pool, while it is young. It does not hold the pool.
 *
 * <p>Threading: any thread.
 */
final class RecentSnapshot {

  // A registry asks each meter on its own, and each answer would be a walk over all blocks. Those
  // of one scrape share one.

  private static final long MAX_AGE_NANOS = Duration.ofMillis(100).toNanos();

  private final LongSupplier clock;
  private PoolSnapshot last;
  private long lastNanos;

  RecentSnapshot(LongSupplier clock) {
    this.clock = clock;
  }

  synchronized PoolSnapshot of(TensorPoolAllocator pool) {
    long now = clock.getAsLong();
    if (last == null || now - lastNanos >= MAX_AGE_NANOS) {
      last = pool.snapshot();
      lastNanos = now;
    }
    return last;
  }
}
