package io.prmalloc;

import io.prmalloc.internal.block.Failures;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/**
 * A sub-allocator that refuses to take regions back a given number of times, as its contract
 * allows.
 *
 * <p>Threading: any thread.
 */
public final class RefusingSource extends SubAllocatorWrapper {

  private final AtomicInteger refusals = new AtomicInteger();
  private volatile Supplier<Throwable> reason = () -> new IllegalStateException("refused");

  public RefusingSource(SubAllocator source) {
    super(source);
  }

  /** Refuses the next frees. */
  public void refuse(int frees) {
    refusals.set(frees);
  }

  /** Refuses the next frees with something else. */
  public void refuse(int frees, Supplier<Throwable> why) {
    reason = why;
    refusals.set(frees);
  }

  /** How many refusals are left. */
  public int left() {
    return refusals.get();
  }

  @Override
  public void free(MemoryRegion region) {
    if (refusals.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
      Failures.throwIfAny(reason.get());
    }
    wrapped().free(region);
  }
}
