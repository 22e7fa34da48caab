package io.prmalloc.recording;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * A counter that many threads fight for, with two cache lines before and behind it for itself.
 *
 * <p>Threading: any thread.
 */
@SuppressWarnings("UnusedVariable")
final class TickCounter extends CounterPadding {

  // Superclasses' fields lie before those of their subclasses, and those of one class and size in
  // the order in which they are written.

  private static final VarHandle NEXT;

  static {
    try {
      NEXT = MethodHandles.lookup().findVarHandle(TickCounter.class, "next", long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private long next;
  private long a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15;

  TickCounter() {}

  /** The number, which is one more for whoever asks next. */
  long getAndIncrement() {
    return (long) NEXT.getAndAdd(this, 1L);
  }

  long get() {
    return (long) NEXT.getAcquire(this);
  }

  long getAndSet(long value) {
    return (long) NEXT.getAndSet(this, value);
  }
}
