package io.prmalloc.internal.lifecycle;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Runs tasks in the background, one after the other, on a daemon thread that ends when it has been
 * idle for a second. An exception of a task is logged, and the next task runs.
 *
 * <p>Threading: any thread.
 */
public final class BackgroundExecutor implements Executor, AutoCloseable {

  private static final Logger LOGGER = System.getLogger(BackgroundExecutor.class.getName());

  private final String name;
  private final ThreadPoolExecutor executor =
      new ThreadPoolExecutor(
          1, 1, 1, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), this::newThread);

  private volatile Thread thread;

  /**
   * Threading: any thread. Starts no thread yet.
   *
   * @param name of the thread
   */
  public BackgroundExecutor(String name) {
    this.name = name;
    executor.allowCoreThreadTimeOut(true);
    executor.setRejectedExecutionHandler(new ThreadPoolExecutor.DiscardPolicy());
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
    executor.execute(() -> runGuarded(task));
  }

  private void runGuarded(Runnable task) {
    try {
      task.run();
    } catch (Throwable e) {
      LOGGER.log(Level.WARNING, "a task in the background failed", e);
    }
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
    executor.shutdown();
    executor.getQueue().clear();
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
