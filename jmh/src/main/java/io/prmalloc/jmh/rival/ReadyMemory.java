package io.prmalloc.jmh.rival;

import io.prmalloc.MemoryRegion;
import io.prmalloc.SubAllocator;
import io.prmalloc.lifetime.ScopedMemoryCollector;
import io.prmalloc.trace.replay.Touch;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Memory that was allocated before: the baseline, which shows the cost of a benchmark without any
 * allocation.
 *
 * <p>Threading: as {@link Strategy} says.
 */
final class ReadyMemory extends AddressStrategy {

  // Each tensor of a step has its address before the step is measured. A tensor gets the memory of
  // one of its size that was released before it, the last one if there are several, as from a pool
  // with a stack for each size; so the same memory is written again as soon as can be, and all of
  // it is in memory from the start. It comes from where the pool's comes from by default.

  /** Largest thing that a pair asks for is not written but at its beginning. */
  private static final int SPOT_BYTES = 128;

  private static final int SPOTS = 1024;
  private static final int ALIGNMENT = 64;

  private final SubAllocator memory = SubAllocator.direct();
  private final List<MemoryRegion> regions = new ArrayList<>();
  private final long spots = region((long) SPOTS * SPOT_BYTES);

  private synchronized long region(long bytes) {
    MemoryRegion region = memory.alloc(ALIGNMENT, bytes);
    regions.add(region);
    return region.address();
  }

  // Pairs write 8 bytes: a place of its own for each thread, far enough from the next.

  @Override
  long take(long bytes) {
    return spots + (Thread.currentThread().getId() & (SPOTS - 1)) * SPOT_BYTES;
  }

  @Override
  void giveBack(long address) {}

  @Override
  public Lane lane(Step step, Touch touch) {
    return new ReadyLane(plan(step), touch);
  }

  /** Memory for each tensor. */
  long[] plan(Step step) {
    long[] addresses = new long[step.tensors()];
    Map<Long, Deque<Long>> released = new HashMap<>();
    step.forEach(
        (tensor, bytes) -> {
          Long again = released.computeIfAbsent(bytes, size -> new ArrayDeque<>()).pollLast();
          addresses[tensor] = again != null ? again : region(bytes);
        },
        (tensor, bytes) -> released.get(bytes).addLast(addresses[tensor]));
    return addresses;
  }

  @Override
  public synchronized void close() {
    regions.forEach(memory::free);
    regions.clear();
  }

  private static final class ReadyLane implements Lane {
    private final long[] addresses;
    private final Touch touch;

    ReadyLane(long[] addresses, Touch touch) {
      this.addresses = addresses;
      this.touch = touch;
    }

    @Override
    public void begin(ScopedMemoryCollector step) {}

    @Override
    public long allocate(int tensor, long bytes, long value) {
      return Writes.touch(touch, addresses[tensor], bytes, value);
    }

    @Override
    public void release(int tensor) {}
  }
}
