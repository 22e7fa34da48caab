package io.prmalloc.pool;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Looks after pools from time to time, on one daemon thread for all of them.
 *
 * <p>Threading: any thread.
 */
final class Upkeep {

  // What costs a pool nothing on its way must be found by somebody who looks. A thread of its own
  // would be much for a pool that lives for a moment, so there is one for all; it is there while
  // some pool is, and holds each by a weak reference: one that was forgotten is not looked at
  // again.

  private static final Logger LOGGER = System.getLogger(Upkeep.class.getName());

  private static final ScheduledThreadPoolExecutor THREAD = newThread();

  /** Who is looked after. */
  interface Target {
    /** A short look. */
    void look();
  }

  /** Who sees to it. */
  interface Starter {
    /**
     * Begins to look at something, again and again.
     *
     * @param period from one look to the next, more than 0
     * @return what ends it
     */
    Runnable start(Target target, Duration period);
  }

  private final WeakReference<? extends Target> target;

  // Under the lock of this object.
  private Future<?> looks;
  private boolean stopped;

  private Upkeep(Target target) {
    this.target = new WeakReference<>(target);
  }

  private static ScheduledThreadPoolExecutor newThread() {
    ScheduledThreadPoolExecutor executor =
        new ScheduledThreadPoolExecutor(
            1,
            task -> {
              Thread thread = new Thread(task, "prmalloc-upkeep");
              thread.setDaemon(true);
              return thread;
            });
    executor.setKeepAliveTime(1, TimeUnit.SECONDS);
    executor.allowCoreThreadTimeOut(true);
    executor.setRemoveOnCancelPolicy(true);
    return executor;
  }

  /**
   * A {@link Starter}.
   *
   * @param target held weakly
   */
  static Runnable start(Target target, Duration period) {
    Upkeep upkeep = new Upkeep(target);
    upkeep.schedule(period.toNanos());
    return upkeep::stop;
  }

  private synchronized void schedule(long nanos) {
    looks = THREAD.scheduleWithFixedDelay(this::look, nanos, nanos, TimeUnit.NANOSECONDS);
  }

  private void look() {
    Target present = target.get();
    if (present == null) {
      stop();
      return;
    }
    try {
      present.look();
    } catch (RuntimeException | Error failure) {
      LOGGER.log(Level.WARNING, "a pool could not be looked after", failure);
    }
  }

  /** Ends it, without waiting for a look that goes on. */
  private synchronized void stop() {
    if (!stopped) {
      stopped = true;
      looks.cancel(false);
    }
  }
}
