package io.prmalloc.trace.planning;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;

/**
 * Makes a plan on a thread of its own, so that it can be given up.
 *
 * <p>Threading: stateless.
 */
final class TimedPlan {

  private static final long LOOK_NANOS = 50_000_000;

  private TimedPlan() {}

  /**
   * @param label names the thread
   * @param timeout how long to wait; empty for as long as it takes
   * @param cancelled whether to wait no longer; asked many times a second
   * @param work makes the plan, and ends soon after an interrupt
   * @throws TimeoutException if the time is over
   * @throws CancellationException if it was cancelled
   * @throws InterruptedException if the waiting thread was interrupted
   */
  static <T> T make(
      String label, Optional<Duration> timeout, BooleanSupplier cancelled, Callable<T> work)
      throws TimeoutException, InterruptedException {
    long begin = System.nanoTime();
    FutureTask<T> task = new FutureTask<>(work);
    Thread thread = new Thread(task, "prmalloc-" + label);
    // It is not waited for at the end; it stops soon after the interrupt.
    thread.setDaemon(true);
    thread.start();
    try {
      while (true) {
        long left =
            timeout.isPresent()
                ? timeout.get().toNanos() - (System.nanoTime() - begin)
                : Long.MAX_VALUE;
        try {
          return task.get(Math.min(left, LOOK_NANOS), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
          if (left <= LOOK_NANOS) {
            throw e;
          }
          if (cancelled.getAsBoolean()) {
            throw new CancellationException("planning was cancelled");
          }
        }
      }
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RuntimeException failure) {
        throw failure;
      }
      if (e.getCause() instanceof Error error) {
        throw error;
      }
      throw new IllegalStateException(e.getCause());
    } finally {
      task.cancel(true);
    }
  }
}
