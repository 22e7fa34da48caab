package io.prmalloc.internal.lifecycle;

import io.prmalloc.internal.block.SafeLog;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.ref.WeakReference;
import java.time.Duration;
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
  //
  // No failure ends it. An executor of the JDK's drops a task that throws, and loses its thread if
  // there is no heap for what it waits with. So this is a loop that takes no heap: it waits by a
  // monitor, the targets are a linked list, and whatever a look throws, the next one is due.

  private static final Logger LOGGER = SafeLog.logger(Maintenance.class);

  /** Under the lock of this class; null while there is no target. */
  private static Worker worker;

  /** Under the lock of this class; the thread of the worker before, or null. */
  private static Thread ending;

  /** The thread, while there is one. */
  private static final class Worker implements Runnable {

    private final Thread thread = new Thread(this, "prmalloc-maintenance");

    /** The first of those that are checked; under the lock of this object. */
    private Maintenance first;

    Worker() {
      thread.setDaemon(true);
      // It may outlive the pool that was first, and must not keep what that one's maker loads from.
      thread.setContextClassLoader(Maintenance.class.getClassLoader());
    }

    synchronized void add(Maintenance one) {
      one.next = first;
      first = one;
      notifyAll();
    }

    /** Whether that was the last. */
    synchronized boolean remove(Maintenance one) {
      if (first == one) {
        first = one.next;
      } else {
        Maintenance before = first;
        while (before != null && before.next != one) {
          before = before.next;
        }
        if (before != null) {
          before.next = one.next;
        }
      }
      notifyAll();
      return first == null;
    }

    @Override
    public void run() {
      boolean wanted = true;
      while (wanted) {
        try {
          Maintenance due = await();
          wanted = due != null;
          if (wanted) {
            due.look();
          }
        } catch (Throwable failure) {
          // An interrupt is not for this thread, and after an error it looks again. It was logged,
          // or there is no heap for that.
        }
      }
    }

    /** Waits until a target is to be checked; null if there is none left. */
    private synchronized Maintenance await() throws InterruptedException {
      while (first != null) {
        Maintenance due = first;
        long now = System.nanoTime();
        for (Maintenance one = first; one != null; one = one.next) {
          due = one.dueNanos - due.dueNanos < 0 ? one : due;
        }
        long left = due.dueNanos - now;
        if (left <= 0) {
          return due;
        }
        TimeUnit.NANOSECONDS.timedWait(this, left);
      }
      return null;
    }

    synchronized void postpone(Maintenance one) {
      one.dueNanos = System.nanoTime() + one.periodNanos;
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
  private final long periodNanos;

  // Under the lock of the worker.
  private long dueNanos;
  private Maintenance next;

  /** Whether the last look failed, which is said once. Of the worker's thread. */
  private boolean failed;

  /** Under the lock of this class. */
  private boolean stopped;

  private Maintenance(Target target, Worker user, Duration period) {
    this.target = new WeakReference<>(target);
    this.user = user;
    this.periodNanos = period.toNanos();
    this.dueNanos = System.nanoTime() + periodNanos;
  }

  /**
   * A {@link Starter}.
   *
   * @param target held weakly
   */
  public static Runnable start(Target target, Duration period) {
    synchronized (Maintenance.class) {
      boolean isFirst = worker == null;
      Worker used = isFirst ? new Worker() : worker;
      Maintenance maintenance = new Maintenance(target, used, period);
      Runnable stop = maintenance::stop;
      used.add(maintenance);
      if (isFirst) {
        used.thread.start();
        worker = used;
      }
      return stop;
    }
  }

  private void look() {
    Target present = target.get();
    if (present == null) {
      stop();
      return;
    }
    try {
      present.look();
      failed = false;
    } catch (Throwable failure) {
      Level level = failed ? Level.DEBUG : Level.WARNING;
      failed = true;
      SafeLog.log(LOGGER, level, "a pool could not be looked after, tried again", failure);
    } finally {
      user.postpone(this);
    }
  }

  /**
   * Ends it, without waiting for a look that is under way, and the thread too if it was the last.
   * Takes no heap.
   */
  private void stop() {
    synchronized (Maintenance.class) {
      if (stopped) {
        return;
      }
      stopped = true;
      if (user.remove(this)) {
        ending = user.thread;
        worker = null;
      }
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
