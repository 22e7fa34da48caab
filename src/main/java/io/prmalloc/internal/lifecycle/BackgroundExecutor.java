package io.prmalloc.internal.lifecycle;

import io.prmalloc.internal.block.SafeLog;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/**
 * Runs tasks in the background, one after the other, on a daemon thread that ends when it has been
 * idle for a second. An exception of a task is logged, and the next task runs.
 *
 * <p>Threading: any thread.
 */
public final class BackgroundExecutor implements Executor, AutoCloseable {

  // An executor of the JDK's loses its thread if there is no heap for what that waits with, and
  // tasks that were accepted then wait for the next one; or it takes a task and throws. Here
  // everything is under a monitor, which takes no heap: a task is either taken, and runs, or it is
  // refused.

  private static final Logger LOGGER = SafeLog.logger(BackgroundExecutor.class);

  private static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(1);

  private static final class Entry {
    private final Runnable task;
    private Entry next;

    Entry(Runnable task) {
      this.task = task;
    }
  }

  private final String name;

  // Under the lock of this object.

  /** The tasks that wait, in their order; null if there are none. */
  private Entry first;

  /** The last of them. */
  private Entry last;

  private boolean closed;

  /** Whether the thread takes one more task. */
  private boolean running;

  /** The last one that was started, or null. */
  private Thread thread;

  /**
   * Threading: any thread. Starts no thread yet.
   *
   * @param name of the thread
   */
  public BackgroundExecutor(String name) {
    this.name = name;
  }

  /** {@inheritDoc} After {@link #close} it does nothing: the result would not be used. */
  @Override
  public synchronized void execute(Runnable task) {
    if (closed) {
      return;
    }
    Entry entry = new Entry(task);
    if (!running) {
      // It waits for the lock, and finds the task.
      Thread made = new Thread(this::run, name);
      made.setDaemon(true);
      made.start();
      thread = made;
      running = true;
    }
    if (first == null) {
      first = entry;
    } else {
      last.next = entry;
    }
    last = entry;
    notifyAll();
  }

  private void run() {
    boolean wanted = true;
    while (wanted) {
      try {
        Runnable task = await();
        wanted = task != null;
        if (wanted) {
          runGuarded(task);
        }
      } catch (Throwable failure) {
        // An interrupt that was meant for the task before, or no heap to log another failure.
      }
    }
  }

  private static void runGuarded(Runnable task) {
    try {
      task.run();
    } catch (Throwable failure) {
      SafeLog.log(LOGGER, Level.WARNING, "a task in the background failed", failure);
    }
  }

  /** The next task; null if there is none for so long that the thread ends, or none any more. */
  private synchronized Runnable await() throws InterruptedException {
    long end = System.nanoTime() + IDLE_NANOS;
    long left = IDLE_NANOS;
    while (first == null && !closed && left > 0) {
      TimeUnit.NANOSECONDS.timedWait(this, left);
      left = end - System.nanoTime();
    }
    if (first == null) {
      running = false;
      return null;
    }
    Runnable next = first.task;
    first = first.next;
    return next;
  }

  /**
   * Drops the tasks that wait, and returns when the one that runs and the thread have ended. A
   * second time it does nothing but wait.
   *
   * <p>Threading: any thread, without a lock that a task may need. From within a task it does not
   * wait; nor if the calling thread is interrupted, which stays so.
   */
  @Override
  public void close() {
    Thread ending;
    synchronized (this) {
      closed = true;
      first = null;
      notifyAll();
      ending = thread;
    }
    Maintenance.join(ending);
  }
}
