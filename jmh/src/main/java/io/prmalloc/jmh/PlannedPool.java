package io.prmalloc.jmh;

import io.prmalloc.lifetime.ScopedMemoryCollector;
import io.prmalloc.pool.StepStats;
import io.prmalloc.pool.TensorPoolAllocator;
import io.prmalloc.trace.replay.Touch;
import java.util.Locale;
import java.util.Optional;

/**
 * Our pool where the step is asked for memory, by raw addresses: each thread is served from an
 * arena that is planned for its step.
 *
 * <p>Threading: as {@link Strategy} says, but no tensor is handed from one thread to another.
 */
final class PlannedPool implements Strategy {

  private final TensorPoolAllocator pool = Pools.learning();

  private static long take(ScopedMemoryCollector step, long bytes) {
    long address = step.allocateRaw(bytes);
    if (address == 0) {
      throw new IllegalStateException(bytes + " bytes are not to be had");
    }
    return address;
  }

  /** A step of its own. */
  @Override
  public long pair(long bytes, long value) {
    try (ScopedMemoryCollector step = openStep()) {
      long address = take(step, bytes);
      long seen = Writes.first(address, value);
      step.deallocateRaw(address);
      return seen;
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
    StepStats stats = pool.stepStats();
    return Optional.of(String.format(Locale.ROOT, "pool: %s", stats));
  }

  @Override
  public void close() {
    pool.close();
  }

  private static final class StepLane implements Lane {
    private final long[] addresses;
    private final Touch touch;
    private ScopedMemoryCollector step;

    StepLane(int tensors, Touch touch) {
      this.addresses = new long[tensors];
      this.touch = touch;
    }

    @Override
    public void begin(ScopedMemoryCollector itsStep) {
      step = itsStep;
    }

    @Override
    public long allocate(int tensor, long bytes, long value) {
      long address = take(step, bytes);
      addresses[tensor] = address;
      return Writes.touch(touch, address, bytes, value);
    }

    @Override
    public void release(int tensor) {
      long address = addresses[tensor];
      addresses[tensor] = 0;
      step.deallocateRaw(address);
    }
  }
}
