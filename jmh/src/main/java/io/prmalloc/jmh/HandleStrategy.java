package io.prmalloc.jmh;

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

  abstract void giveBack(H handle);

  @Override
  public final long pair(long bytes, long value) {
    H handle = take(bytes);
    long seen = touch(handle, value);
    giveBack(handle);
    return seen;
  }

  @Override
  public final Lane lane(int tensors) {
    return new HandleLane<>(this, tensors);
  }

  // A new array for each step, because a request's handles are held by objects as young as they
  // are. An array that is used again grows old, and from then on G1 pays for each store of a young
  // handle, which says nothing about an allocator.
  private static final class HandleLane<H> implements Lane {
    private final HandleStrategy<H> strategy;
    private final int tensors;
    private H[] handles;

    HandleLane(HandleStrategy<H> strategy, int tensors) {
      this.strategy = strategy;
      this.tensors = tensors;
    }

    @Override
    @SuppressWarnings("unchecked") // only what take() gave is stored
    public void begin() {
      handles = (H[]) new Object[tensors];
    }

    @Override
    public long allocate(int tensor, long bytes, long value) {
      H handle = strategy.take(bytes);
      handles[tensor] = handle;
      return strategy.touch(handle, value);
    }

    @Override
    public void release(int tensor) {
      H handle = handles[tensor];
      handles[tensor] = null;
      strategy.giveBack(handle);
    }
  }
}
