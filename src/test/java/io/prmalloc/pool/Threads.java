package io.prmalloc.pool;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Runs work on several threads that begin together; what one of them throws is thrown here. */
public final class Threads {

  @FunctionalInterface
  public interface Work {
    public void run(int thread) throws Exception;
  }

  private Threads() {}

  /** Makes a virtual thread for each task; the test is skipped where there are none. */
  public static ExecutorService virtual() throws ReflectiveOperationException {
    assumeTrue(Runtime.version().feature() >= 21, "virtual threads need JDK 21 or later");
    return (ExecutorService)
        Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
  }

  /** Waits on a thread that is not interrupted, where no checked exception can be thrown. */
  public static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** Returns when a thread waits without a time limit, or has ended. */
  public static void awaitWaiting(Thread thread) {
    while (thread.isAlive() && thread.getState() != Thread.State.WAITING) {
      Thread.onSpinWait();
    }
  }

  public static void run(int count, Work work) throws Exception {
    run(Executors.newFixedThreadPool(count), count, work);
  }

  /** On threads of an executor that has so many; it is shut down. */
  public static void run(ExecutorService threads, int count, Work work) throws Exception {
    try {
      CyclicBarrier start = new CyclicBarrier(count);
      List<Future<?>> results = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        int thread = i;
        results.add(
            threads.submit(
                () -> {
                  start.await();
                  work.run(thread);
                  return null;
                }));
      }
      for (Future<?> result : results) {
        result.get();
      }
    } catch (ExecutionException e) {
      throw new AssertionError("on a thread: " + e.getCause(), e.getCause());
    } finally {
      threads.shutdownNow();
    }
  }
}
