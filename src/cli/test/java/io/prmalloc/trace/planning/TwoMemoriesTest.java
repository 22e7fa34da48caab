package io.prmalloc.trace.planning;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.plan.TensorConstraints;
import io.prmalloc.plan.TensorUsageRecord;
import io.prmalloc.plan.exact.ExactPlan;
import io.prmalloc.plan.exact.PlanWatcher;
import io.prmalloc.trace.TensorLifetimes;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CancellationException;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The end of two plans that take long. */
class TwoMemoriesTest {

  /** All alive at once, with alignments of their own: a plan of them takes minutes. */
  private static final TensorLifetimes MANY =
      TensorLifetimes.of(
          "many",
          IntStream.range(0, 60_000).mapToObj(String::valueOf).toList(),
          IntStream.range(0, 60_000)
              .mapToObj(
                  i ->
                      new TensorUsageRecord(
                          1 + i % 1_000,
                          i,
                          i + 2_000,
                          TensorConstraints.NONE.withAlignment(1 + i % 7)))
              .toList());

  private static final List<Memory> MEMORIES =
      List.of(new Memory("fast", 1 << 30), new Memory("slow", 1 << 30));

  @Test
  void shouldEndWhenItIsCancelledAmidAPlan() {
    long begin = System.nanoTime();
    PlanWatcher watcher =
        new PlanWatcher() {
          @Override
          public boolean isCancelled() {
            return System.nanoTime() - begin > 300_000_000;
          }

          @Override
          public void improved(ExactPlan plan) {}
        };

    assertThrows(
        CancellationException.class,
        () ->
            TwoMemories.plan(
                MANY,
                MEMORIES,
                new PlanOptions(1, Optional.empty(), OptionalLong.empty(), watcher)));
  }

  @Test
  void shouldPlanWhatIsChosenByThenWhenCancelled() throws InterruptedException {
    TensorLifetimes two =
        TensorLifetimes.of(
            "two",
            List.of("a", "b"),
            List.of(new TensorUsageRecord(8, 0, 1), new TensorUsageRecord(8, 1, 2)));
    PlanWatcher atOnce =
        new PlanWatcher() {
          @Override
          public boolean isCancelled() {
            return true;
          }

          @Override
          public void improved(ExactPlan plan) {}
        };

    TwoMemories plan =
        TwoMemories.plan(
            two, MEMORIES, new PlanOptions(1, Optional.empty(), OptionalLong.empty(), atOnce));

    assertEquals(List.of(), plan.parts().get(0).tensors());
    assertEquals(List.of(0, 1), plan.parts().get(1).tensors());
    assertEquals(List.of(), plan.failures());
  }

  @Test
  void shouldEndWhenTheTimeIsOverAmidAPlan() {
    PlanOptions options =
        new PlanOptions(1, Optional.of(Duration.ofMillis(200)), OptionalLong.empty());

    IllegalStateException over =
        assertThrows(IllegalStateException.class, () -> TwoMemories.plan(MANY, MEMORIES, options));

    // Of which memory depends on how many tensors were chosen for the first one by then.
    assertTrue(
        over.getMessage().matches("many: the plan of (fast|slow) did not end within 0\\.2 s"),
        over.getMessage());
  }
}
