package io.prmalloc.internal.lifecycle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.BrokenLog;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** No failure ends what a pool does in the background, not even one to log the failure. */
@SuppressWarnings("try") // the log is broken as long as it is open
class EndlessWorkTest {

  private static final Duration PERIOD = Duration.ofMillis(1);

  @Test
  void shouldLookAgainWhenALookAndItsLogFail() throws InterruptedException {
    AtomicInteger failing = new AtomicInteger();
    CountDownLatch others = new CountDownLatch(20);
    Maintenance.Target fails =
        () -> {
          failing.incrementAndGet();
          throw new Error("of the test");
        };
    Maintenance.Target counts = others::countDown;
    try (BrokenLog log = new BrokenLog(Maintenance.class)) {
      Runnable stopFailing = Maintenance.start(fails, PERIOD);
      Runnable stopCounting = Maintenance.start(counts, PERIOD);
      // One thread looks at both, in turn.
      others.await();
      stopFailing.run();
      stopCounting.run();
      Maintenance.join();
    }
    assertTrue(failing.get() > 1, "looked once only");
  }

  /** Fails at some of its calls, and stops its trimmer at the last. */
  private static final class Failing implements IdleTrimmer.Target {
    private IdleTrimmer trimmer;
    private int asked;
    private int trims;

    @Override
    public long changes() {
      asked++;
      if (asked == 2) {
        throw new Error("of the test");
      }
      if (asked > 10 && trims > 2) {
        trimmer.stop();
      }
      return 0;
    }

    @Override
    public long trim() {
      trims++;
      if (trims < 3) {
        throw new Error("of the test");
      }
      return 0;
    }
  }

  @Test
  void shouldTrimAgainWhenATrimAndItsLogFail() {
    Failing target = new Failing();
    target.trimmer = new IdleTrimmer(target, PERIOD, System::nanoTime);
    try (BrokenLog log = new BrokenLog(IdleTrimmer.class)) {
      target.trimmer.run();
    }
    // And not again after one that did not fail.
    assertEquals(3, target.trims);
  }

  @Test
  void shouldRunTheNextTaskOnTheSameThreadWhenOneAndItsLogFail() throws InterruptedException {
    AtomicReference<Thread> first = new AtomicReference<>();
    AtomicReference<Thread> second = new AtomicReference<>();
    CountDownLatch done = new CountDownLatch(1);
    try (BrokenLog log = new BrokenLog(BackgroundExecutor.class);
        BackgroundExecutor executor = new BackgroundExecutor("test")) {
      executor.execute(
          () -> {
            first.set(Thread.currentThread());
            Thread.currentThread().interrupt();
            throw new Error("of the test");
          });
      executor.execute(
          () -> {
            second.set(Thread.currentThread());
            done.countDown();
          });
      done.await();
    }
    assertSame(first.get(), second.get());
  }
}
