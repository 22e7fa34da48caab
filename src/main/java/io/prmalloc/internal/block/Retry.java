package io.prmalloc.internal.block;

import io.prmalloc.Allocation;
import io.prmalloc.AllocationAttributes;
import io.prmalloc.Allocator;
import io.prmalloc.OutOfNativeMemoryException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * The attempts of one request with attributes, which control the wait for memory and the further
 * attempts.
 *
 * <p>Threading: one thread.
 */
final class Retry {

  // Memory is freed in many places: to the pool's blocks, to a sub-allocator that several
  // allocators share, to the system by another process. None of them notifies a waiting thread, for
  // the check whether one waits would cost every release. So a waiting thread tries again: after 50
  // µs at first, then after twice as long each time, at last every 2 ms. That finds memory 2 ms
  // late at worst, and an attempt that fails takes some microseconds, so a waiting thread costs its
  // core less than one part in a hundred.
  //
  // A thread that waited tries once more, also if the deadline has passed meanwhile. An interrupt
  // ends the waiting: after one last attempt the request fails as usual, and the thread stays
  // interrupted. Callers of an allocation do not expect an InterruptedException.

  private static final long FIRST_PAUSE_NANOS = TimeUnit.MICROSECONDS.toNanos(50);
  private static final long LONGEST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

  private final AllocationAttributes attributes;
  private final long bytes;
  private int failedAttempts;
  private long pauseNanos = FIRST_PAUSE_NANOS;

  private Retry(long bytes, AllocationAttributes attributes) {
    this.bytes = bytes;
    this.attributes = attributes;
  }

  /** Repeats {@link Allocator#allocate(long, long)} as often as the attributes allow. */
  static Allocation allocate(
      Allocator allocator, long bytes, long alignment, AllocationAttributes attributes) {
    Retry retry = null;
    while (true) {
      try {
        return allocator.allocate(bytes, alignment);
      } catch (OutOfNativeMemoryException notToBeHad) {
        retry = retry != null ? retry : new Retry(bytes, attributes);
        if (!retry.tryAgain()) {
          throw notToBeHad;
        }
      }
    }
  }

  /** Repeats {@link Allocator#allocateRaw(long, long)} as often as the attributes allow. */
  static long allocateRaw(
      Allocator allocator, long alignment, long bytes, AllocationAttributes attributes) {
    Retry retry = null;
    while (true) {
      long address = allocator.allocateRaw(alignment, bytes);
      if (address != 0) {
        return address;
      }
      retry = retry != null ? retry : new Retry(bytes, attributes);
      if (!retry.tryAgain()) {
        return 0;
      }
    }
  }

  /** After a failed attempt: waits if need be, and says whether to try again. */
  private boolean tryAgain() {
    failedAttempts++;
    if (attributes.noRetryOnFailure() || leftNanos() <= 0) {
      return false;
    }
    if (attributes.retry() != null && attributes.retry().tryAgain(failedAttempts, bytes)) {
      return true;
    }
    if (attributes.deadlineNanos().isEmpty() || Thread.currentThread().isInterrupted()) {
      return false;
    }
    LockSupport.parkNanos(this, Math.min(pauseNanos, leftNanos()));
    pauseNanos = Math.min(2 * pauseNanos, LONGEST_PAUSE_NANOS);
    return true;
  }

  /** Time to the deadline, and more than nothing if there is none. */
  private long leftNanos() {
    return attributes.deadlineNanos().isEmpty()
        ? 1
        : attributes.deadlineNanos().getAsLong() - System.nanoTime();
  }
}
