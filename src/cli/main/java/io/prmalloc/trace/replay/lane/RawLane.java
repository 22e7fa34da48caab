package io.prmalloc.trace.replay.lane;

import io.prmalloc.Allocator;

/**
 * Raw addresses of one of our allocators.
 *
 * <p>Threading: one thread at a time.
 */
class RawLane extends AddressLane {

  private final Allocator allocator;

  RawLane(Allocator allocator, int tensors) {
    super(tensors);
    this.allocator = allocator;
  }

  @Override
  public final long take(int tensor, long bytes) {
    return allocator.allocateRaw(Allocator.DEFAULT_ALIGNMENT, bytes);
  }

  @Override
  public final void giveBack(int tensor, long address) {
    allocator.deallocateRaw(address);
  }
}
