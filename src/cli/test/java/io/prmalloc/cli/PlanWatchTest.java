package io.prmalloc.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.prmalloc.plan.OffsetsAssignment;
import io.prmalloc.plan.TensorUsageRecord;
import io.prmalloc.plan.exact.ExactPlan;
import java.util.List;
import org.junit.jupiter.api.Test;

class PlanWatchTest {

  private static ExactPlan plan() {
    List<TensorUsageRecord> records = List.of(new TensorUsageRecord(1050, 0, 1));
    return new ExactPlan(OffsetsAssignment.of(records, new long[1], 1), 1000);
  }

  @Test
  void shouldSayHowFarThePlanIsFromTheBound() {
    assertEquals("best 1,050, gap 5.00 %", PlanWatch.describe(plan()));
  }

  @Test
  void shouldLetThePlannerRunWhenNobodyPressedAnything() {
    try (CtrlC ctrlC = CtrlC.caught();
        PlanWatch watch = new PlanWatch(null, ctrlC);
        PlanWatch alone = new PlanWatch(null, null)) {
      watch.improved(plan());

      assertFalse(watch.isCancelled());
      assertFalse(alone.isCancelled());
    }
  }
}
