package io.prmalloc.jmh.rival;

import io.prmalloc.lifetime.ScopedMemoryCollector;
import io.prmalloc.pool.TensorPoolAllocator;
import io.prmalloc.trace.replay.Touch;
import java.util.Optional;

/**
 * Our pool where the step is asked for memory, by raw addresses: each thread is served from an
 * arena that is planned for its step.
 *
 * <p>Threading: as {@link Strategy} says, but no tensor is handed from one thread to another.
 */
final class PoolSteps implements Strategy {

  private final TensorPoolAllocator pool;

  PoolSteps(TensorPoolAllocator pool) {
    this.pool = pool;
  }

  private static long take(ScopedMemoryCollector step, long bytes) {
    return Pools.had(step.allocateRaw(bytes), bytes);
  }

  /** A step of its own. */
  @Override
  public long pair(long bytes, long value) {
    try (ScopedMemoryCollector step = openStep()) {
      long address = take(step, bytes);
      Writes.checkRead(Writes.first(address, value), value);
      step.deallocateRaw(address);
      return value;
    }
  }

  @Override
  public Lane lane(Step step, Touch touch) {
    return new StepLane(step.tensors(), touch);
  }

  @Override
  public Handover handover(int capacity) {
    throw new UnsupportedOperationException("a step's tensors are its own thread's here");
  }

  @Override
  public ScopedMemoryCollector openStep() {
    return pool.collect();
  }

  @Override
  public boolean isWarm() {
    return pool.stepStats().plannedSteps() > 0;
  }

  @Override
  public Optional<String> report() {
    return Optional.of("pool: " + pool.stepStats());
  }

  @Override
  public void close() {
    pool.close();
  }

  private static final class StepLane extends AddressLane {
    private ScopedMemoryCollector step;

    StepLane(int tensors, Touch touch) {
      super(tensors, touch);
    }

    @Override
    public void begin(ScopedMemoryCollector itsStep) {
      step = itsStep;
    }

    @Override
    long take(long bytes) {
      return PoolSteps.take(step, bytes);
    }

    @Override
    void giveBack(long address) {
      step.deallocateRaw(address);
    }
  }
}
