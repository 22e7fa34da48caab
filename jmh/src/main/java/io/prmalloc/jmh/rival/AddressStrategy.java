package io.prmalloc.jmh.rival;

import io.prmalloc.trace.replay.Touch;

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

  @Override
  public final long pair(long bytes, long value) {
    long address = take(bytes);
    Writes.checkRead(Writes.first(address, value), value);
    giveBack(address);
    return value;
  }

  @Override
  public Lane lane(Step step, Touch touch) {
    return new StrategyLane(this, step.tensors(), touch);
  }

  @Override
  public final Handover handover(int capacity) {
    return new AddressHandover(this, capacity);
  }

  private static final class StrategyLane extends AddressLane {
    private final AddressStrategy strategy;

    StrategyLane(AddressStrategy strategy, int tensors, Touch touch) {
      super(tensors, touch);
      this.strategy = strategy;
    }

    @Override
    long take(long bytes) {
      return strategy.take(bytes);
    }

    @Override
    void giveBack(long address) {
      strategy.giveBack(address);
    }
  }

  private static final class AddressHandover extends Handover {
    private final AddressStrategy strategy;
    private final long[] slots;

    AddressHandover(AddressStrategy strategy, int capacity) {
      super(capacity);
      this.strategy = strategy;
      this.slots = new long[capacity];
    }

    @Override
    void fill(int from, int to, long bytes, long value) {
      for (int slot = from; slot < to; slot++) {
        long address = strategy.take(bytes);
        Writes.first(address, value);
        slots[slot] = address;
      }
    }

    @Override
    void drain(int from, int to) {
      for (int slot = from; slot < to; slot++) {
        strategy.giveBack(slots[slot]);
      }
    }
  }
}
