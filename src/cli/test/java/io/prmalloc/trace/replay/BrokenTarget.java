package io.prmalloc.trace.replay;

import io.prmalloc.trace.replay.lane.AddressLane;
import io.prmalloc.trace.replay.lane.Lane;
import io.prmalloc.trace.replay.lane.ReplayTarget;
import java.nio.ByteBuffer;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiFunction;
import org.agrona.BufferUtil;

/**
 * An allocator that gives out the addresses in one buffer that a test chooses, and counts what is
 * allocated.
 */
final class BrokenTarget implements ReplayTarget {

  private final ByteBuffer memory = ByteBuffer.allocateDirect(1 << 20);
  private final AtomicInteger out = new AtomicInteger();
  private final BiFunction<Integer, Integer, Long> offsets;
  private boolean closed;

  /**
   * @param offsets the offset for (tensor, allocations before it), or −1 for none; or throws
   */
  BrokenTarget(BiFunction<Integer, Integer, Long> offsets) {
    this.offsets = offsets;
  }

  int out() {
    return out.get();
  }

  boolean isClosed() {
    return closed;
  }

  @Override
  public Lane lane(int tensors) {
    return new AddressLane(tensors) {
      private int allocations;

      @Override
      public long take(int tensor, long bytes) {
        long offset = offsets.apply(tensor, allocations++);
        if (offset < 0) {
          return 0;
        }
        out.incrementAndGet();
        return BufferUtil.address(memory) + offset;
      }

      @Override
      public void giveBack(int tensor, long address) {
        out.decrementAndGet();
      }
    };
  }

  @Override
  public boolean isWarm() {
    return true;
  }

  @Override
  public void markStart() {}

  @Override
  public long peakReservedBytes() {
    return memory.capacity();
  }

  @Override
  public Optional<ReplayRun.PoolCounts> poolCounts() {
    return Optional.empty();
  }

  @Override
  public void close() {
    closed = true;
  }
}
