package io.prmalloc.plan.exact;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.prmalloc.plan.ConstrainedInstances;
import io.prmalloc.plan.LowerBounds;
import io.prmalloc.plan.MemoryStrategy;
import io.prmalloc.plan.OffsetsAssignment;
import io.prmalloc.plan.PlanValidator;
import io.prmalloc.plan.TensorConstraints;
import io.prmalloc.plan.TensorConstraints.Gap;
import io.prmalloc.plan.TensorUsageRecord;
import io.prmalloc.plan.heuristic.HeuristicPlanner;
import io.prmalloc.plan.heuristic.PlacementOrder;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("jdk-independent")
class ConstrainedSearchTest {

  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  private static final ExactPlanner PLANNER = new ExactPlanner(ExactOptions.DEFAULTS);
  private static final TensorConstraints NONE = TensorConstraints.NONE;

  private static ExactPlan minimize(List<TensorUsageRecord> records) {
    return PLANNER.minimize(records, 1, PlanWatcher.NONE);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 4})
  void shouldBeAsSmallAsExhaustiveSearchWhenConstrained(long alignment) {
    compare(new Random(alignment), 150, 4, alignment);
  }

  @Test
  @Tag("long")
  void shouldBeAsSmallAsExhaustiveSearchWhenConstrainedForLong() {
    compare(new Random(99), 20_000, 6, 1);
  }

  private static void compare(Random random, int instances, int most, long alignment) {
    int possible = 0;
    int gapped = 0;
    for (int i = 0; i < instances; i++) {
      List<TensorUsageRecord> records = ConstrainedInstances.random(random, most);
      long smallest = ConstrainedInstances.smallest(records, alignment);
      if (smallest < 0) {
        assertThrows(
            IllegalArgumentException.class,
            () -> PLANNER.minimize(records, alignment, PlanWatcher.NONE),
            records.toString());
        continue;
      }
      possible++;
      gapped += LowerBounds.loadBytes(records) < smallest ? 1 : 0;
      ExactPlan plan = PLANNER.minimize(records, alignment, PlanWatcher.NONE);
      assertEquals(smallest, plan.totalBytes(), records.toString());
      assertTrue(plan.isOptimal(), records.toString());
      check(records, plan.assignment(), smallest);
      check(records, MemoryStrategy.GREEDY_BY_SIZE.assignOffsets(records, alignment), smallest);
      for (PlacementOrder order : PlacementOrder.values()) {
        check(records, HeuristicPlanner.assignOffsets(records, order, alignment), smallest);
      }
      assertEquals(
          CapacityAnswer.Outcome.FITS,
          PLANNER.fit(records, alignment, smallest, PlanWatcher.NONE).outcome());
      if (smallest > 0) {
        assertEquals(
            CapacityAnswer.Outcome.DOES_NOT_FIT,
            PLANNER.fit(records, alignment, smallest - 1, PlanWatcher.NONE).outcome());
      }
    }
    assertTrue(possible > instances / 2, possible + " of " + instances);
    assertTrue(gapped > instances / 40, gapped + " above the load");
  }

  private static void check(
      List<TensorUsageRecord> records, OffsetsAssignment plan, long smallest) {
    assertEquals(Optional.empty(), PlanValidator.fault(records, plan), records.toString());
    assertTrue(plan.totalBytes() >= smallest, records.toString());
    if (plan.totalBytes() <= ConstrainedInstances.MAX_BYTES) {
      assertTrue(ConstrainedInstances.isValid(records, plan.offsets(), 1), records.toString());
    }
  }

  @Test
  void shouldProveWhenTensorsAreMoreThanExhaustiveSearchTakes() {
    // Two halves by turns: each tensor needs its full size only where the other is half.
    List<TensorUsageRecord> records = new ArrayList<>();
    Random random = new Random(5);
    for (int i = 0; i < 30; i++) {
      long first = random.nextInt(40);
      long size = 64L * (1 + random.nextInt(8));
      TensorConstraints constraints = NONE.withAlignment(random.nextBoolean() ? 64 : 192);
      if (i % 3 == 0) {
        constraints = constraints.withGaps(List.of(new Gap(first + 2, first + 4, 0, size / 2)));
      }
      records.add(new TensorUsageRecord(size, first, first + 6, constraints));
    }
    ExactPlan plan =
        new ExactPlanner(ExactOptions.DEFAULTS.withMaxSearchSteps(20_000))
            .minimize(records, 1, PlanWatcher.NONE);

    assertEquals(Optional.empty(), PlanValidator.fault(records, plan.assignment()));
    assertTrue(plan.isOptimal(), plan.toString());
    assertTrue(
        plan.totalBytes() <= MemoryStrategy.GREEDY_BY_SIZE.assignOffsets(records, 1).totalBytes());
  }

  @Test
  void shouldSeeThatCapacityIsNoneOfFixedWhenTheyEndAbove() {
    List<TensorUsageRecord> records =
        List.of(
            new TensorUsageRecord(4, 0, 1, NONE.withOffset(12)), new TensorUsageRecord(6, 0, 1));
    assertEquals(16, minimize(records).totalBytes());
    assertEquals(12, minimize(records).assignment().offset(0));
    assertEquals(
        CapacityAnswer.Outcome.DOES_NOT_FIT,
        PLANNER.fit(records, 1, 15, PlanWatcher.NONE).outcome());
  }

  @Test
  void shouldFollowHintsWhenTheyCostNothing() {
    List<TensorUsageRecord> records =
        List.of(
            new TensorUsageRecord(4, 0, 1, NONE.withHint(6)),
            new TensorUsageRecord(6, 0, 1),
            new TensorUsageRecord(2, 5, 6, NONE.withHint(3)),
            new TensorUsageRecord(2, 7, 8, NONE.withHint(1 << 20)));
    for (OffsetsAssignment plan :
        List.of(
            minimize(records).assignment(),
            MemoryStrategy.GREEDY_BY_SIZE.assignOffsets(records, 1),
            HeuristicPlanner.assignOffsets(records, PlacementOrder.LIFE, 1))) {
      assertEquals(10, plan.totalBytes());
      assertEquals(3, plan.offset(2));
      assertEquals(6, plan.offset(0));
    }
  }

  @Test
  void shouldRefuseWhenFixedOffsetsCollide() {
    List<TensorUsageRecord> records =
        List.of(
            new TensorUsageRecord(4, 0, 1, NONE.withOffset(0)),
            new TensorUsageRecord(4, 1, 2, NONE.withOffset(2)));
    String message =
        "fixed offsets cannot be kept: tensors 0 and 1 are both alive in task 1 and share bytes"
            + " from offset 2";
    assertEquals(
        message,
        assertThrows(IllegalArgumentException.class, () -> minimize(records)).getMessage());
    assertEquals(
        "tensor 0 is fixed at offset 12, no multiple of the alignment 8",
        assertThrows(
                IllegalArgumentException.class,
                () ->
                    MemoryStrategy.GREEDY_BY_SIZE.assignOffsets(
                        List.of(new TensorUsageRecord(1, 0, 0, NONE.withOffset(12))), 8))
            .getMessage());
  }

  @Test
  void shouldTakeOneAlignmentOfAllAsThePlansOwn() {
    List<TensorUsageRecord> records =
        List.of(
            new TensorUsageRecord(3, 0, 1, NONE.withAlignment(8)),
            new TensorUsageRecord(3, 1, 2, NONE.withAlignment(8)));
    ExactPlan plan = minimize(records);
    assertEquals(8, plan.assignment().alignment());
    assertEquals(11, plan.totalBytes());
    assertTrue(plan.isOptimal());
  }

  /** What two tensors forbid each other takes as long as they have gaps, not as their product. */
  @Test
  void shouldEndSoonWhenTensorsHaveManyGaps() {
    int count = 100_000;
    List<TensorUsageRecord> records = new ArrayList<>();
    for (int tensor = 0; tensor < 6; tensor++) {
      List<Gap> gaps = new ArrayList<>();
      for (int gap = 0; gap < count; gap++) {
        gaps.add(new Gap(3L * gap + tensor % 3, 3L * gap + tensor % 3, 0, 0));
      }
      records.add(new TensorUsageRecord(100, 0, 3L * count, NONE.withGaps(gaps)));
    }
    // Beside them the ticks would take a gigabyte if all were kept.
    for (int tensor = 0; tensor < 100; tensor++) {
      records.add(new TensorUsageRecord(1, 0, 3L * count));
    }

    ExactPlan plan =
        assertTimeoutPreemptively(
            Duration.ofMinutes(2),
            () ->
                new ExactPlanner(ExactOptions.DEFAULTS.withTimeout(Duration.ofSeconds(1)))
                    .minimize(records, 1, PlanWatcher.NONE));

    assertEquals(Optional.empty(), PlanValidator.fault(records, plan.assignment()));
    assertTrue(plan.assignment().totalBytes() >= 500);
  }

  /** Nothing but the first plan is made, not even a list of who is in whose way. */
  @Test
  void shouldEndWithTheFirstPlanWhenTheTimeIsOverByThen() {
    Random random = new Random(5);
    List<TensorUsageRecord> records = new ArrayList<>();
    for (int tensor = 0; tensor < 2_400; tensor++) {
      long first = random.nextInt(5_000);
      long last = 20_000L - random.nextInt(5_000);
      List<Gap> gaps = List.of(new Gap(6_000 + random.nextInt(3_000), 9_000, 0, 1));
      records.add(
          new TensorUsageRecord(1 + random.nextInt(100_000), first, last, NONE.withGaps(gaps)));
    }
    MemoryStrategy.GREEDY_BY_SIZE.assignOffsets(records, 1);
    long before = THREADS.getCurrentThreadAllocatedBytes();
    MemoryStrategy.GREEDY_BY_SIZE.assignOffsets(records, 1);
    long greedy = THREADS.getCurrentThreadAllocatedBytes() - before;

    before = THREADS.getCurrentThreadAllocatedBytes();
    ExactPlan plan =
        new ExactPlanner(ExactOptions.DEFAULTS.withTimeout(Duration.ofNanos(1)))
            .minimize(records, 1, PlanWatcher.NONE);
    long exact = THREADS.getCurrentThreadAllocatedBytes() - before;

    assertEquals(Optional.empty(), PlanValidator.fault(records, plan.assignment()));
    assertTrue(exact < 3 * greedy + (1 << 20), exact + " bytes after " + greedy);
  }

  @Test
  void shouldEndWithTheBestSoFarWhenCancelledOrInterrupted() {
    List<TensorUsageRecord> records = new ArrayList<>();
    Random random = new Random(3);
    for (int i = 0; i < 300; i++) {
      long first = random.nextInt(50);
      records.add(
          new TensorUsageRecord(
              1 + random.nextInt(1000),
              first,
              first + random.nextInt(30),
              NONE.withAlignment(1L << random.nextInt(6))));
    }
    ExactPlan cancelled = ExactPlanner.minimize(records, 1, Duration.ofDays(1), () -> true);
    assertEquals(Optional.empty(), PlanValidator.fault(records, cancelled.assignment()));
    assertFalse(cancelled.isOptimal());
    Thread.currentThread().interrupt();
    ExactPlan interrupted = ExactPlanner.minimize(records, 1, Duration.ofDays(1), () -> false);
    assertTrue(Thread.interrupted());
    assertEquals(Optional.empty(), PlanValidator.fault(records, interrupted.assignment()));
  }
}
