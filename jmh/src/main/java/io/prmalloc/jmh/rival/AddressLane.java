package io.prmalloc.jmh.rival;

import io.prmalloc.lifetime.ScopedMemoryCollector;
import io.prmalloc.trace.replay.Touch;

/**
 * A lane whose tensors are addresses.
 *
 * <p>Threading: one thread at a time.
 */
abstract class AddressLane implements Lane {

  private final long[] addresses;
  private final Touch touch;

  public AddressLane(int tensors, Touch touch) {
    this.addresses = new long[tensors];
    this.touch = touch;
  }

  /** An address, never 0. */
  abstract long take(long bytes);

  abstract void giveBack(long address);

  @Override
  public void begin(ScopedMemoryCollector step) {}

  @Override
  public final long allocate(int tensor, long bytes, long value) {
    long address = take(bytes);
    addresses[tensor] = address;
    return Writes.touch(touch, address, bytes, value);
  }

  @Override
  public final void release(int tensor) {
    long address = addresses[tensor];
    addresses[tensor] = 0;
    giveBack(address);
  }
}
