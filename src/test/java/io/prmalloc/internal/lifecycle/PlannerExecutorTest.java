package io.prmalloc.internal.lifecycle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Which tasks a long one makes way for, and what a close does with those that wait. */
class PlannerExecutorTest {

  private final Queue<Runnable> given = new ArrayDeque<>();
  private final AtomicInteger ran = new AtomicInteger();

  @Test
  void shouldSayThatATaskWaitsUntilItBegins() {
    PlannerExecutor executor = new PlannerExecutor(given::add);
    assertFalse(executor.isTaskWaiting());
    executor.execute(() -> assertFalse(executor.isTaskWaiting(), "it has begun"));
    assertTrue(executor.isTaskWaiting());
    given.remove().run();
    assertFalse(executor.isTaskWaiting());
  }

  @Test
  void shouldLetNoLongTaskMakeWayForAnother() {
    PlannerExecutor executor = new PlannerExecutor(given::add);
    executor.executeLong(ran::incrementAndGet);
    executor.executeLong(ran::incrementAndGet);
    assertFalse(executor.isTaskWaiting());
    given.forEach(Runnable::run);
    assertEquals(2, ran.get());
  }

  @Test
  void shouldForgetATaskThatTheUsersExecutorRefuses() {
    PlannerExecutor executor =
        new PlannerExecutor(
            task -> {
              throw new RejectedExecutionException();
            });
    assertThrows(RejectedExecutionException.class, () -> executor.execute(ran::incrementAndGet));
    assertFalse(executor.isTaskWaiting());
  }

  @Test
  void shouldRunTheNextTaskWhenOneFailsAndDropThoseThatWaitWhenClosed() throws Exception {
    PlannerExecutor executor = new PlannerExecutor("prmalloc-test");
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch closing = new CountDownLatch(1);
    executor.execute(
        () -> {
          throw new IllegalStateException("expected by the test");
        });
    executor.execute(
        () -> {
          begun.countDown();
          while (!executor.isTaskWaiting()) {
            Thread.onSpinWait();
          }
          closing.countDown();
          while (ran.get() == 0) {
            Thread.onSpinWait();
          }
        });
    begun.await();
    executor.execute(() -> ran.addAndGet(100));
    closing.await();
    Thread closer = new Thread(executor::close);
    closer.start();
    // The task that waits is dropped before the close waits for the one that runs.
    while (closer.getState() != Thread.State.WAITING) {
      Thread.onSpinWait();
    }
    ran.incrementAndGet();
    closer.join();
    executor.execute(() -> ran.addAndGet(100));
    assertEquals(1, ran.get());
  }
}
