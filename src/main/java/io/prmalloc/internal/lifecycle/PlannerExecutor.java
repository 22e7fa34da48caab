package io.prmalloc.internal.lifecycle;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Runs tasks in the background, one after the other, on a daemon thread that ends when it has been
 * idle for a second; or on an executor of the user's. It counts the tasks that wait, so that a long
 * task can make way for them.
 *
 * <p>Threading: any thread.
 */
public final class PlannerExecutor implements Executor, AutoCloseable {

  private static final Logger LOGGER = System.getLogger(PlannerExecutor.class.getName());

  private final String name;
  private final Executor target;

  /** Null if the tasks run on an executor of the user's. */
  private final ThreadPoolExecutor own;

  private final AtomicInteger waiting = new AtomicInteger();

  private volatile Thread thread;

  /**
   * Runs tasks on a thread of its own. An exception of a task is logged, and the next task runs.
   * Threading: any thread. Starts no thread yet.
   *
   * @param name of the thread
   */
  public PlannerExecutor(String name) {
    this.name = name;
    own =
        new ThreadPoolExecutor(
            1, 1, 1, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), this::newThread);
    own.allowCoreThreadTimeOut(true);
    own.setRejectedExecutionHandler(new ThreadPoolExecutor.DiscardPolicy());
    target = task -> own.execute(() -> runGuarded(task));
  }

  /** Runs tasks on an executor that stays the caller's. Threading: any thread. */
  public PlannerExecutor(Executor users) {
    name = "";
    own = null;
    target = users;
  }

  private Thread newThread(Runnable work) {
    Thread made = new Thread(work, name);
    made.setDaemon(true);
    thread = made;
    return made;
  }

  /** {@inheritDoc} After {@link #close} it does nothing: the result would not be used. */
  @Override
  public void execute(Runnable task) {
    waiting.incrementAndGet();
    boolean taken = false;
    try {
      target.execute(
          () -> {
            waiting.decrementAndGet();
            task.run();
          });
      taken = true;
    } finally {
      if (!taken) {
        waiting.decrementAndGet();
      }
    }
  }

  /**
   * As {@link #execute}, for a task that may take long: it is expected to end soon when {@link
   * #isTaskWaiting}, which is not true of such tasks, for two of them would only take turns.
   * Threading: any thread.
   */
  public void executeLong(Runnable task) {
    target.execute(task);
  }

  /**
   * Whether a task waits that was given to {@link #execute} and has not begun. Threading: any
   * thread; of the moment of the call.
   */
  public boolean isTaskWaiting() {
    return waiting.get() > 0;
  }

  private void runGuarded(Runnable task) {
    try {
      task.run();
    } catch (Throwable e) {
      LOGGER.log(Level.WARNING, "a task in the background failed", e);
    }
  }

  /**
   * Drops the tasks that wait for its own thread, and returns when the one that runs and the thread
   * have ended. A second time it does nothing but wait.
   *
   * <p>Threading: any thread, without a lock that a task may need. From within a task it does not
   * wait; nor if the calling thread is interrupted, which stays so.
   */
  @Override
  public void close() {
    if (own == null) {
      return;
    }
    own.shutdown();
    own.getQueue().clear();
    Thread last = thread;
    if (last == null || last == Thread.currentThread()) {
      return;
    }
    try {
      last.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
