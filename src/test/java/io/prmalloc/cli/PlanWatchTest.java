package io.prmalloc.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.plan.OffsetsAssignment;
import io.prmalloc.plan.TensorUsageRecord;
import io.prmalloc.plan.exact.ExactPlan;
import java.util.List;
import org.junit.jupiter.api.Test;

class PlanWatchTest {

  private static ExactPlan plan() {
    List<TensorUsageRecord> records = List.of(new TensorUsageRecord(105, 0, 1));
    return new ExactPlan(OffsetsAssignment.of(records, new long[1], 1), 100);
  }

  @Test
  void shouldHoldTheShutdownUntilThePlanIsWrittenWhenThereIsOne() throws InterruptedException {
    PlanWatch watch = new PlanWatch(null);
    try {
      watch.improved(plan());
      assertFalse(watch.isCancelled());
      Thread shutdown = new Thread(watch::cancel);
      shutdown.start();
      while (shutdown.getState() != Thread.State.TIMED_WAITING) {
        assertTrue(shutdown.isAlive(), "it did not wait");
        Thread.onSpinWait();
      }
      assertTrue(watch.isCancelled());

      watch.close();

      shutdown.join();
    } finally {
      watch.close();
    }
  }

  @Test
  void shouldNotHoldTheShutdownWhenThereIsNoPlan() {
    try (PlanWatch watch = new PlanWatch(null)) {
      watch.cancel();

      assertTrue(watch.isCancelled());
    }
  }

  @Test
  void shouldSayHowFarThePlanIsFromTheBound() {
    assertEquals("105 bytes, 5.00 % over the bound", PlanWatch.describe(plan()));
  }
}
