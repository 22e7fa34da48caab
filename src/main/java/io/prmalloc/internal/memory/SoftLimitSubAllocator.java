package io.prmalloc.internal.memory;

import io.prmalloc.MemoryRegion;
import io.prmalloc.SoftLimit;
import io.prmalloc.SubAllocator;
import io.prmalloc.SubAllocatorWrapper;
import io.prmalloc.internal.block.SafeLog;
import io.prmalloc.internal.jfr.FlightEvents;
import io.prmalloc.internal.jfr.FlightEvents.LimitKind;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Passes calls on to another sub-allocator, and reports when that has reserved more than a soft
 * limit.
 *
 * <p>Threading: any thread, without a lock.
 */
public final class SoftLimitSubAllocator extends SubAllocatorWrapper {

  // Two levels, so that a server which breathes in and out at the limit is not told of every
  // breath:
  //
  //   over the limit          told, if it was not above before
  //   down to the lower one   not above any more
  //
  // A thread that comes down may be overtaken by one that goes up and finds that it was told
  // already, and the other way round. So a thread that passes a level then looks at the other one.
  //
  // The caller that asked for memory may hold locks, and what is told may want them (a pool that is
  // to be trimmed, say); hence the executor. What goes wrong there does not concern the request.

  private static final Logger LOGGER = SafeLog.logger(SoftLimitSubAllocator.class);

  private final long limitBytes;
  private final long lowerBytes;
  private final Executor executor;
  private final SoftLimit told;
  private final AtomicBoolean above = new AtomicBoolean();

  public SoftLimitSubAllocator(
      SubAllocator source, long limitBytes, Executor executor, SoftLimit told) {
    super(source);
    this.limitBytes = LimitedSubAllocator.checkLimit(limitBytes);
    this.lowerBytes = limitBytes - limitBytes / 10;
    this.executor = executor;
    this.told = told;
  }

  /** Runs each task on a daemon thread of its own: they are rare. */
  public static void onThread(Runnable task) {
    Thread thread = new Thread(task, "prmalloc-soft-limit");
    thread.setDaemon(true);
    thread.start();
  }

  @Override
  public MemoryRegion alloc(long alignment, long bytes) {
    MemoryRegion region = wrapped().alloc(alignment, bytes);
    try {
      lookUp(bytes);
      return region;
    } catch (Throwable e) {
      wrapped().free(region);
      throw e;
    }
  }

  @Override
  public void free(MemoryRegion region) {
    wrapped().free(region);
    lookDown();
  }

  private void lookUp(long bytes) {
    long reserved = wrapped().bytesReserved();
    if (reserved > limitBytes && !above.get() && above.compareAndSet(false, true)) {
      try {
        FlightEvents.limitHit(LimitKind.SOFT, bytes, reserved, limitBytes);
        executor.execute(() -> tell(reserved));
      } catch (Throwable refused) {
        SafeLog.log(
            LOGGER, Level.WARNING, "the soft limit is exceeded, listener not told", refused);
      }
      lookDown();
    }
  }

  private void lookDown() {
    if (above.get() && wrapped().bytesReserved() <= lowerBytes) {
      above.set(false);
      lookUp(0);
    }
  }

  private void tell(long reserved) {
    try {
      told.exceeded(reserved, limitBytes);
    } catch (Throwable failure) {
      SafeLog.log(LOGGER, Level.WARNING, "what was told of the soft limit failed", failure);
    }
  }
}
