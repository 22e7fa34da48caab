package io.prmalloc.trace.planning;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.plan.TensorUsageRecord;
import io.prmalloc.plan.exact.PlanWatcher;
import io.prmalloc.trace.TensorLifetimes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;

class PlanningTest {

  private static final TensorLifetimes TENSORS =
      TensorLifetimes.of(
          "two",
          List.of("a", "b"),
          List.of(new TensorUsageRecord(64, 0, 1), new TensorUsageRecord(32, 2, 3)));

  private volatile boolean isCancelled;

  private Planning planning(List<String> strategies) {
    PlanWatcher watcher =
        new PlanWatcher() {
          @Override
          public boolean isCancelled() {
            return isCancelled;
          }
        };
    PlanOptions options = new PlanOptions(1, Optional.empty(), OptionalLong.empty(), watcher);
    return new Planning(TENSORS, options, strategies, Optional.of(PlanKind.OFFSETS));
  }

  @Test
  void shouldKeepThePlansSoFarWhenCancelled() throws InterruptedException {
    List<String> begun = new ArrayList<>();
    List<PlanRun> runs =
        planning(List.of("naive", "equality", "exact"))
            .run(
                (strategy, done, total) -> {
                  begun.add(strategy);
                  // While the second one begins, which is too short to notice it.
                  isCancelled = done == 1;
                });

    assertEquals(List.of("naive", "equality"), begun);
    assertEquals(3, runs.size());
    assertEquals(96, runs.get(0).plan().orElseThrow().total());
    assertFalse(runs.get(0).isCancelled());
    assertTrue(runs.get(2).isCancelled());
    assertEquals(Optional.of("interrupted"), runs.get(2).skipped());
    assertEquals(Optional.empty(), runs.get(2).plan());
    assertEquals(Optional.empty(), runs.get(2).failed());
  }

  @Test
  void shouldPlanNothingWhenCancelledBefore() throws InterruptedException {
    isCancelled = true;
    List<PlanRun> runs = planning(List.of()).run((strategy, done, total) -> {});

    assertTrue(runs.stream().allMatch(PlanRun::isCancelled));
    assertEquals(9, runs.size());
  }

  @Test
  void shouldInterruptTheWorkWhenCancelled() throws InterruptedException {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch interrupted = new CountDownLatch(1);

    assertThrows(
        CancellationException.class,
        () ->
            TimedPlan.make(
                "test",
                Optional.empty(),
                () -> begun.getCount() == 0,
                () -> endless(begun, interrupted)));

    interrupted.await();
  }

  @Test
  void shouldInterruptTheWorkWhenItsTimeIsOver() throws InterruptedException {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch interrupted = new CountDownLatch(1);

    assertThrows(
        TimeoutException.class,
        () ->
            TimedPlan.make(
                "test",
                Optional.of(Duration.ofMillis(70)),
                () -> false,
                () -> endless(begun, interrupted)));

    begun.await();
    interrupted.await();
  }

  private static Plan endless(CountDownLatch begun, CountDownLatch interrupted)
      throws InterruptedException {
    try {
      begun.countDown();
      new CountDownLatch(1).await();
      throw new AssertionError("nobody counts that latch down");
    } finally {
      interrupted.countDown();
    }
  }
}
