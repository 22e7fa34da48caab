package io.prmalloc.internal.lifecycle;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Runs the periodic work of pools, on one daemon thread for all of them.
 *
 * <p>Threading: any thread.
 */
public final class Maintenance {

  // A condition that the fast path of a pool does not check must be found by a periodic check. A
  // separate thread would be costly for a pool of short life, so there is one thread for all pools.
  // It runs while there is a pool, and holds each by a weak reference: a pool that is no longer
  // referenced is not checked again.

  private static final Logger LOGGER = System.getLogger(Maintenance.class.getName());

  /** Under the lock of this class; null while there is no target. */
  private static Worker worker;

  /** Under the lock of this class; the thread of the worker before, or null. */
  private static Thread ending;

  /** The thread, while there is one. */
  private static final class Worker {
    private final ScheduledThreadPoolExecutor executor =
        new ScheduledThreadPoolExecutor(1, this::newThread);
    private volatile Thread thread;
    private int users;

    Worker() {
      executor.setKeepAliveTime(1, TimeUnit.SECONDS);
      executor.allowCoreThreadTimeOut(true);
      executor.setRemoveOnCancelPolicy(true);
    }

    private Thread newThread(Runnable work) {
      Thread made = new Thread(work, "prmalloc-maintenance");
      made.setDaemon(true);
      // It may outlive the pool that was first, and must not keep what that one's maker loads from.
      made.setContextClassLoader(Maintenance.class.getClassLoader());
      thread = made;
      return made;
    }
  }

  /** The object of periodic checks. */
  public interface Target {
    /** A short look. */
    void look();
  }

  /** Starts periodic checks. */
  public interface Starter {
    /**
     * Begins to check a target periodically.
     *
     * @param period from one look to the next, more than 0
     * @return what ends it
     */
    public Runnable start(Target target, Duration period);
  }

  private final WeakReference<? extends Target> target;
  private final Worker user;

  // Under the lock of this object.
  private Future<?> looks;
  private boolean stopped;

  private Maintenance(Target target, Worker user) {
    this.target = new WeakReference<>(target);
    this.user = user;
  }

  /**
   * A {@link Starter}.
   *
   * @param target held weakly
   */
  public static Runnable start(Target target, Duration period) {
    synchronized (Maintenance.class) {
      if (worker == null) {
        worker = new Worker();
      }
      Maintenance maintenance = new Maintenance(target, worker);
      maintenance.schedule(period.toNanos());
      worker.users++;
      return maintenance::stop;
    }
  }

  private synchronized void schedule(long nanos) {
    looks = user.executor.scheduleWithFixedDelay(this::look, nanos, nanos, TimeUnit.NANOSECONDS);
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

  /**
   * Ends it, without waiting for a look that is under way, and the thread too if it was the last.
   */
  private void stop() {
    synchronized (this) {
      if (stopped) {
        return;
      }
      stopped = true;
      looks.cancel(false);
    }
    leave(user);
  }

  private static synchronized void leave(Worker user) {
    user.users--;
    if (user.users == 0) {
      user.executor.shutdown();
      ending = user.thread;
      worker = null;
    }
  }

  /** Returns when the thread that ended with the last target has ended. */
  public static void join() {
    Thread last;
    synchronized (Maintenance.class) {
      last = ending;
      ending = null;
    }
    join(last);
  }

  /**
   * Waits for a thread to end, unless it is null or the calling one. If the calling thread is
   * interrupted, it does not wait and stays interrupted.
   */
  public static void join(Thread thread) {
    if (thread == null || thread == Thread.currentThread()) {
      return;
    }
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
