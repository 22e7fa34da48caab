package io.prmalloc.jmh.rival;

import io.prmalloc.lifetime.ScopedMemoryCollector;
import io.prmalloc.trace.replay.Touch;

/**
 * An allocator that gives out objects.
 *
 * <p>Threading: as {@link Strategy} says.
 *
 * @param <H> the objects
 */
abstract class HandleStrategy<H> implements Strategy {

  // A fork loads one subclass, so the JIT knows the only target of each of these calls and inlines
  // it.

  abstract H take(long bytes);

  /** Writes the first 8 bytes and reads them back, as a user of the handle would. */
  abstract long touch(H handle, long value);

  /** Where its memory begins. */
  abstract long address(H handle);

  abstract void giveBack(H handle);

  @Override
  public long pair(long bytes, long value) {
    H handle = take(bytes);
    Writes.checkRead(touch(handle, value), value);
    giveBack(handle);
    return value;
  }

  @Override
  public Lane lane(Step step, Touch touch) {
    return new HandleLane<>(this, step.tensors(), touch);
  }

  @Override
  public Handover handover(int capacity) {
    return new HandleHandover<>(this, capacity);
  }

  // A new array for each step, because a request's handles are held by objects as young as they
  // are. An array that is used again grows old, and from then on G1 pays for each store of a young
  // handle, which says nothing about an allocator.
  static class HandleLane<H> implements Lane {
    private final HandleStrategy<H> strategy;
    private final int tensors;
    private final Touch touch;
    private H[] handles;

    HandleLane(HandleStrategy<H> strategy, int tensors, Touch touch) {
      this.strategy = strategy;
      this.tensors = tensors;
      this.touch = touch;
    }

    H take(long bytes) {
      return strategy.take(bytes);
    }

    @Override
    @SuppressWarnings("unchecked") // only what take() gave is stored
    public void begin(ScopedMemoryCollector step) {
      handles = (H[]) new Object[tensors];
    }

    @Override
    public final long allocate(int tensor, long bytes, long value) {
      H handle = take(bytes);
      handles[tensor] = handle;
      return switch (touch) {
        case NONE -> value;
        case FIRST -> strategy.touch(handle, value);
        case PAGE, ALL -> Writes.touch(touch, strategy.address(handle), bytes, value);
      };
    }

    @Override
    public final void release(int tensor) {
      H handle = handles[tensor];
      handles[tensor] = null;
      strategy.giveBack(handle);
    }
  }

  // For the same reason each lap has a new array. The one that is full says which comes next, and
  // forgets it when it is empty: an array that grew old after all would keep its successors.
  private static final class HandleHandover<H> extends Handover {
    private final HandleStrategy<H> strategy;
    private final int capacity;
    private Object[] filled;
    private Object[] drained;

    HandleHandover(HandleStrategy<H> strategy, int capacity) {
      super(capacity);
      this.strategy = strategy;
      this.capacity = capacity;
      this.filled = newLap();
      this.drained = filled;
    }

    /** Room for a lap, and for the next one's array. */
    private Object[] newLap() {
      return new Object[capacity + 1];
    }

    @Override
    void fill(int from, int to, long bytes, long value) {
      Object[] slots = filled;
      for (int slot = from; slot < to; slot++) {
        H handle = strategy.take(bytes);
        strategy.touch(handle, value);
        slots[slot] = handle;
      }
      if (to == capacity) {
        filled = newLap();
        slots[capacity] = filled;
      }
    }

    @Override
    @SuppressWarnings("unchecked") // only what take() gave is stored
    void drain(int from, int to) {
      Object[] slots = drained;
      for (int slot = from; slot < to; slot++) {
        strategy.giveBack((H) slots[slot]);
      }
      if (to == capacity) {
        drained = (Object[]) slots[capacity];
        slots[capacity] = null;
      }
    }
  }
}
