package io.prmalloc.trace.replay;

import io.prmalloc.lifetime.ScopedMemoryCollector;
import io.prmalloc.pool.PoolStats;
import io.prmalloc.pool.TensorPoolAllocator;
import io.prmalloc.pool.TensorPoolBuilder;
import java.util.Optional;

/**
 * The allocator that learns. Every step of every thread is a scope of its own, before and after the
 * switch, as in a server. Learning starts with the first step, and the plan is made on the thread
 * that closes the last step of it, so a replay of one thread comes out the same each time.
 *
 * <p>Threading: any thread.
 */
final class PoolTarget implements ReplayTarget {

  private final TensorPoolAllocator pool;
  private final Api api;
  private volatile PoolStats start;

  PoolTarget(ReplayOptions options) {
    TensorPoolBuilder builder =
        TensorPoolAllocator.builder()
            .subAllocator(options.memory().source())
            .startStatisticStep(0)
            .executor(Runnable::run);
    if (options.warmupSteps().isPresent()) {
      // The plan is made when more steps than this were collected, those of all threads together.
      long steps = (long) options.warmupSteps().getAsInt() * options.threads();
      builder.maxStatisticStep((int) Math.min(Integer.MAX_VALUE, steps) - 1);
    }
    this.pool = builder.build();
    this.api = options.api();
    this.start = pool.poolStats();
  }

  @Override
  public Lane lane(int tensors) {
    return api == Api.RAW ? new RawPoolLane(pool, tensors) : new HandlePoolLane(pool, tensors);
  }

  @Override
  public boolean isWarm() {
    return pool.isPooling();
  }

  @Override
  public void markStart() {
    start = pool.poolStats();
  }

  @Override
  public long peakReservedBytes() {
    return pool.stats().peakBytesReserved();
  }

  @Override
  public Optional<ReplayRun.PoolCounts> poolCounts() {
    PoolStats end = pool.poolStats();
    return Optional.of(
        new ReplayRun.PoolCounts(
            pool.isPooling(),
            end.hits() - start.hits(),
            end.misses() - start.misses(),
            end.nullBins() - start.nullBins(),
            end.policyIntervalBytes(),
            end.planBytes(),
            end.addedBlocks(),
            end.arenaBytes()));
  }

  @Override
  public void close() {
    pool.closeForcibly();
  }

  private static final class RawPoolLane extends RawLane {
    private final TensorPoolAllocator pool;
    private ScopedMemoryCollector step;

    RawPoolLane(TensorPoolAllocator pool, int tensors) {
      super(pool, tensors);
      this.pool = pool;
    }

    @Override
    public void openStep() {
      step = pool.collect();
    }

    @Override
    public void closeStep() {
      step.close();
    }
  }

  private static final class HandlePoolLane extends HandleLane {
    private final TensorPoolAllocator pool;
    private ScopedMemoryCollector step;

    HandlePoolLane(TensorPoolAllocator pool, int tensors) {
      super(pool, tensors);
      this.pool = pool;
    }

    @Override
    public void openStep() {
      step = pool.collect();
    }

    @Override
    public void closeStep() {
      step.close();
    }
  }
}
