package io.prmalloc.jmh.rival;

import io.prmalloc.Allocation;
import io.prmalloc.lifetime.ScopedMemoryCollector;
import io.prmalloc.pool.TensorPoolAllocator;
import io.prmalloc.trace.replay.Touch;
import java.util.Optional;

/**
 * Our pool where the step is asked for memory, by checked handles; otherwise as {@link PoolSteps}.
 *
 * <p>Threading: as {@link Strategy} says, but no tensor is handed from one thread to another.
 */
final class PoolStepHandles extends PoolHandles {

  PoolStepHandles(TensorPoolAllocator pool) {
    super(pool);
  }

  @Override
  Allocation take(long bytes) {
    throw new UnsupportedOperationException("the lane asks its step");
  }

  /** A step of its own. */
  @Override
  public long pair(long bytes, long value) {
    try (ScopedMemoryCollector step = openStep();
        Allocation handle = step.allocate(bytes)) {
      Writes.checkRead(touch(handle, value), value);
      return value;
    }
  }

  @Override
  public Lane lane(Step step, Touch touch) {
    return new StepLane(this, step.tensors(), touch);
  }

  @Override
  public Handover handover(int capacity) {
    throw new UnsupportedOperationException("a step's tensors are its own thread's here");
  }

  @Override
  public boolean isWarm() {
    return pool.stepStats().plannedSteps() > 0;
  }

  @Override
  public Optional<String> report() {
    return Optional.of("pool: " + pool.stepStats());
  }

  private static final class StepLane extends HandleLane<Allocation> {
    private ScopedMemoryCollector step;

    StepLane(PoolStepHandles strategy, int tensors, Touch touch) {
      super(strategy, tensors, touch);
    }

    @Override
    public void begin(ScopedMemoryCollector itsStep) {
      super.begin(itsStep);
      step = itsStep;
    }

    @Override
    Allocation take(long bytes) {
      return step.allocate(bytes);
    }
  }
}
