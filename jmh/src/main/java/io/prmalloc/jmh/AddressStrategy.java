package io.prmalloc.jmh;

import org.agrona.UnsafeApi;

/**
 * An allocator that gives out addresses.
 *
 * <p>Threading: as {@link Strategy} says.
 */
abstract class AddressStrategy implements Strategy {

  // A fork loads one subclass, so the JIT knows the only target of each of these calls and inlines
  // it.

  /** An address, never 0. */
  abstract long take(long bytes);

  abstract void giveBack(long address);

  private static long touch(long address, long value) {
    UnsafeApi.putLong(address, value);
    return UnsafeApi.getLong(address);
  }

  @Override
  public final long pair(long bytes, long value) {
    long address = take(bytes);
    long seen = touch(address, value);
    giveBack(address);
    return seen;
  }

  @Override
  public final Lane lane(int tensors) {
    return new AddressLane(this, tensors);
  }

  private static final class AddressLane implements Lane {
    private final AddressStrategy strategy;
    private final long[] addresses;

    AddressLane(AddressStrategy strategy, int tensors) {
      this.strategy = strategy;
      this.addresses = new long[tensors];
    }

    @Override
    public void begin() {}

    @Override
    public long allocate(int tensor, long bytes, long value) {
      long address = strategy.take(bytes);
      addresses[tensor] = address;
      return touch(address, value);
    }

    @Override
    public void release(int tensor) {
      long address = addresses[tensor];
      addresses[tensor] = 0;
      strategy.giveBack(address);
    }
  }
}
