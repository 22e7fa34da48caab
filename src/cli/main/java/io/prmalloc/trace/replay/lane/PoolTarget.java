package io.prmalloc.trace.replay.lane;

import io.prmalloc.Allocation;
import io.prmalloc.Allocator;
import io.prmalloc.AllocatorStats;
import io.prmalloc.internal.os.FileReplacement;
import io.prmalloc.lifetime.ScopedMemoryCollector;
import io.prmalloc.pool.PoolStats;
import io.prmalloc.pool.StepStats;
import io.prmalloc.pool.TensorPoolAllocator;
import io.prmalloc.pool.TensorPoolBuilder;
import io.prmalloc.trace.replay.ReplayOptions;
import io.prmalloc.trace.replay.ReplayRun;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.function.LongFunction;

/**
 * The allocator that learns. Every step of every thread is a scope of its own, before and after the
 * switch, as in a server. Either learning starts with the first step, and the plan is made on the
 * thread that closes the last step of it, so a replay of one thread comes out the same each time;
 * or the pool is as its defaults have it and plans in the background, as in a server.
 *
 * <p>Threading: any thread.
 */
public final class PoolTarget implements ReplayTarget {

  private final TensorPoolAllocator pool;
  private final Optional<Path> keep;
  private final Api api;
  private final boolean planned;
  private final int threads;
  private volatile PoolStats start;
  private volatile StepStats stepsAtStart;
  private long allocsBeforeClear;

  /**
   * @param planned whether the steps ask for their memory themselves, and are planned
   * @param asServed whether the pool plans in the background, by its defaults
   */
  public PoolTarget(ReplayOptions options, boolean planned, boolean asServed) {
    TensorPoolBuilder builder =
        TensorPoolAllocator.builder().subAllocator(options.memory().source());
    if (!asServed) {
      builder.executor(Runnable::run);
    }
    if (!asServed || options.warmupSteps().isPresent()) {
      builder.startStatisticStep(0);
    }
    if (options.warmupSteps().isPresent()) {
      // The plan is made when more steps than this were collected, those of all threads together.
      long steps = (long) options.warmupSteps().getAsInt() * options.threads();
      builder.maxStatisticStep((int) Math.min(Integer.MAX_VALUE, steps) - 1);
    }
    options.pool().applyTo(builder);
    this.pool = builder.build();
    this.keep = options.pool().keep();
    this.api = options.api();
    this.planned = planned;
    this.threads = options.threads();
    markStart();
  }

  @Override
  public Lane lane(int tensors) {
    StepOf steps = new StepOf(pool);
    if (api == Api.RAW) {
      return planned ? new RawStepLane(steps, tensors) : new RawPoolLane(pool, steps, tensors);
    }
    return planned
        ? new HandlePoolLane(steps::allocate, steps, tensors)
        : new HandlePoolLane(pool::allocate, steps, tensors);
  }

  @Override
  public boolean isWarm() {
    return planned ? pool.stepStats().arenas() >= threads : pool.isPooling();
  }

  @Override
  public void markStart() {
    start = pool.poolStats();
    stepsAtStart = pool.stepStats();
  }

  @Override
  public Optional<ReplayRun.StepCounts> stepCounts() {
    if (!planned) {
      return Optional.empty();
    }
    StepStats end = pool.stepStats();
    return Optional.of(
        new ReplayRun.StepCounts(
            end.plannedSteps() - stepsAtStart.plannedSteps(),
            end.departedSteps() - stepsAtStart.departedSteps(),
            end.unplannedSteps() - stepsAtStart.unplannedSteps(),
            end.arenas(),
            end.arenaBytes()));
  }

  @Override
  public long peakReservedBytes() {
    return pool.stats().peakBytesReserved();
  }

  @Override
  public Optional<ReplayRun.PoolCounts> poolCounts() {
    if (planned) {
      return Optional.empty();
    }
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

  /** What was counted so far. A walk over the blocks; of one moment if the pool is at rest. */
  public PoolCensus census() {
    PoolStats shared = pool.poolStats();
    StepStats steps = pool.stepStats();
    AllocatorStats memory = pool.stats();
    long misses = shared.unpooledRequests();
    return new PoolCensus(
        planned ? allocsBeforeClear + memory.numAllocs() : shared.hits() + misses,
        misses,
        shared.replans() + steps.replans(),
        steps.departedSteps(),
        memory.bytesReserved(),
        memory.peakBytesReserved());
  }

  /** Gives back what was replaced and is free by now. */
  public void releaseReplaced() {
    pool.trimSteps(Duration.ofDays(1));
  }

  /** Lets the peak of {@link #census} begin anew. Nothing moves meanwhile. */
  public void clearPeak() {
    allocsBeforeClear += pool.stats().numAllocs();
    pool.clearStats();
  }

  @Override
  public void close() {
    try {
      if (keep.isPresent()) {
        pool.plan().save(keep.get());
      }
    } catch (IOException e) {
      throw new UncheckedIOException(FileReplacement.naming(keep.get(), e));
    } finally {
      pool.closeForcibly();
    }
  }

  /** Opens and closes steps, and makes no garbage. */
  private static final class StepOf {
    private final TensorPoolAllocator pool;
    private ScopedMemoryCollector step;
    private boolean isOpen;

    StepOf(TensorPoolAllocator pool) {
      this.pool = pool;
    }

    void open() {
      if (step == null) {
        step = pool.collect();
      } else {
        step.reopen();
      }
      isOpen = true;
    }

    void close() {
      isOpen = false;
      step.close();
    }

    /** Asks the step that is open; outside of steps the pool. */
    Allocation allocate(long bytes) {
      return isOpen ? step.allocate(bytes) : pool.allocate(bytes);
    }

    long allocateRaw(long bytes) {
      return isOpen
          ? step.allocateRaw(bytes)
          : pool.allocateRaw(Allocator.DEFAULT_ALIGNMENT, bytes);
    }

    void deallocateRaw(long address) {
      if (isOpen) {
        step.deallocateRaw(address);
      } else {
        pool.deallocateRaw(address);
      }
    }
  }

  private static final class RawPoolLane extends RawLane {
    private final StepOf steps;

    RawPoolLane(TensorPoolAllocator pool, StepOf steps, int tensors) {
      super(pool, tensors);
      this.steps = steps;
    }

    @Override
    public void openStep() {
      steps.open();
    }

    @Override
    public void closeStep() {
      steps.close();
    }
  }

  /** Asks the pool, or the step where one is open. */
  private static final class HandlePoolLane extends HandleLane {
    private final StepOf steps;

    HandlePoolLane(LongFunction<Allocation> allocator, StepOf steps, int tensors) {
      super(allocator, tensors);
      this.steps = steps;
    }

    @Override
    public void openStep() {
      steps.open();
    }

    @Override
    public void closeStep() {
      steps.close();
    }
  }

  /** Asks the step and not the pool, where one is open. */
  private static final class RawStepLane extends AddressLane {
    private final StepOf steps;

    RawStepLane(StepOf steps, int tensors) {
      super(tensors);
      this.steps = steps;
    }

    @Override
    public void openStep() {
      steps.open();
    }

    @Override
    public void closeStep() {
      steps.close();
    }

    @Override
    public long take(int tensor, long bytes) {
      return steps.allocateRaw(bytes);
    }

    @Override
    public void giveBack(int tensor, long address) {
      steps.deallocateRaw(address);
    }
  }
}
