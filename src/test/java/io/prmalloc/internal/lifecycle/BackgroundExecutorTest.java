package io.prmalloc.internal.lifecycle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.pool.Threads;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class BackgroundExecutorTest {

  @Test
  void shouldGoOnWithTheSameThreadWhenATaskThrows() throws Exception {
    Executor executor = new BackgroundExecutor("test");
    List<Thread> threads = new ArrayList<>();
    CountDownLatch done = new CountDownLatch(1);
    executor.execute(
        () -> {
          threads.add(Thread.currentThread());
          throw new NoClassDefFoundError("thrown by a test");
        });
    executor.execute(() -> threads.add(Thread.currentThread()));
    executor.execute(done::countDown);
    done.await();
    assertEquals(2, threads.size());
    assertSame(threads.get(0), threads.get(1));
  }

  @Test
  void shouldWaitForTheTaskThatRunsAndDropTheRestWhenClosed() throws InterruptedException {
    BackgroundExecutor executor = new BackgroundExecutor("test");
    CountDownLatch running = new CountDownLatch(1);
    CountDownLatch closing = new CountDownLatch(1);
    AtomicReference<Thread> thread = new AtomicReference<>();
    AtomicBoolean ended = new AtomicBoolean();
    AtomicBoolean dropped = new AtomicBoolean(true);
    executor.execute(
        () -> {
          thread.set(Thread.currentThread());
          running.countDown();
          Threads.await(closing);
          ended.set(true);
        });
    executor.execute(() -> dropped.set(false));
    running.await();
    Thread closer = new Thread(executor::close);
    closer.start();
    Threads.awaitWaiting(closer);
    closing.countDown();
    closer.join();
    assertTrue(ended.get());
    assertFalse(thread.get().isAlive());
    executor.execute(() -> dropped.set(false));
    executor.close();
    assertTrue(dropped.get());
  }

  @Test
  void shouldNotWaitForItselfWhenATaskCloses() throws InterruptedException {
    BackgroundExecutor executor = new BackgroundExecutor("test");
    CountDownLatch closed = new CountDownLatch(1);
    executor.execute(
        () -> {
          executor.close();
          closed.countDown();
        });
    closed.await();
  }
}
