package io.prmalloc.trace.planning;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Makes a plan on a thread of its own, so that it can be given up.
 *
 * <p>Threading: stateless.
 */
final class TimedPlan {

  private TimedPlan() {}

  /**
   * @param label names the thread
   * @param timeout how long to wait; empty for as long as it takes
   * @param work makes the plan, and ends soon after an interrupt
   * @throws TimeoutException if the time is over
   * @throws InterruptedException if the waiting thread was interrupted
   */
  static Plan make(String label, Optional<Duration> timeout, Callable<Plan> work)
      throws TimeoutException, InterruptedException {
    FutureTask<Plan> task = new FutureTask<>(work);
    Thread thread = new Thread(task, "prmalloc-" + label);
    // Nobody waits for it at the end; it stops soon after the interrupt.
    thread.setDaemon(true);
    thread.start();
    try {
      return timeout.isPresent()
          ? task.get(timeout.get().toNanos(), TimeUnit.NANOSECONDS)
          : task.get();
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
