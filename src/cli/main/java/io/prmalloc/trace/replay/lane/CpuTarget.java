package io.prmalloc.trace.replay.lane;

import io.prmalloc.CpuAllocator;
import io.prmalloc.trace.replay.ReplayOptions;
import io.prmalloc.trace.replay.ReplayRun;
import java.util.Optional;

/**
 * Our plain allocator.
 *
 * <p>Threading: any thread.
 */
public final class CpuTarget implements ReplayTarget {

  private final CpuAllocator allocator;
  private final Api api;

  public CpuTarget(ReplayOptions options) {
    this.allocator = new CpuAllocator(options.memory().source());
    this.api = options.api();
  }

  @Override
  public Lane lane(int tensors) {
    return api == Api.RAW
        ? new RawLane(allocator, tensors)
        : new HandleLane(allocator::allocate, tensors);
  }

  @Override
  public boolean isWarm() {
    return true;
  }

  @Override
  public void markStart() {}

  @Override
  public long peakReservedBytes() {
    return allocator.stats().peakBytesReserved();
  }

  @Override
  public Optional<ReplayRun.PoolCounts> poolCounts() {
    return Optional.empty();
  }

  @Override
  public void close() {
    allocator.close();
  }
}
