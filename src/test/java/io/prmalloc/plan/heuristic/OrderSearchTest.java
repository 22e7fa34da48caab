package io.prmalloc.plan.heuristic;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.plan.OffsetsAssignment;
import io.prmalloc.plan.PlanValidator;
import io.prmalloc.plan.TensorUsageRecord;
import io.prmalloc.plan.heuristic.SearchOptions.Kind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class OrderSearchTest {

  private static final Duration LONG = Duration.ofDays(1);

  private static SearchOptions tries(Kind kind, long tries) {
    return new SearchOptions(kind, 7, LONG, tries);
  }

  @ParameterizedTest
  @EnumSource
  void shouldNeverBeWorseThanTheOrderItStartsFromWhenInputsAreRandom(Kind kind) {
    for (long seed = 0; seed < 100; seed++) {
      List<TensorUsageRecord> records = HeuristicPlannerTest.random(new SplittableRandom(seed));
      for (PlacementOrder start : PlacementOrder.values()) {
        List<Long> told = new ArrayList<>();
        OffsetsAssignment plan =
            OrderSearch.assignOffsets(
                records,
                start,
                1,
                tries(kind, 60),
                (bytes, done) -> {
                  assertTrue(done >= 0 && done <= 1);
                  return told.add(bytes);
                });

        long before = HeuristicPlanner.assignOffsets(records, start, 1).totalBytes();
        assertTrue(plan.totalBytes() <= before, "seed " + seed);
        assertEquals(Optional.empty(), PlanValidator.fault(records, plan), "seed " + seed);
        for (int i = 1; i < told.size(); i++) {
          assertTrue(told.get(i) <= told.get(i - 1), "seed " + seed);
        }
      }
    }
  }

  @Test
  void shouldStopWhenTheLoadIsReached() {
    List<TensorUsageRecord> records =
        List.of(new TensorUsageRecord(100, 0, 1), new TensorUsageRecord(50, 2, 3));

    OffsetsAssignment plan =
        OrderSearch.assignOffsets(
            records, PlacementOrder.SIZE, 1, tries(Kind.SWAPS, Long.MAX_VALUE), SearchWatch.NONE);

    assertEquals(128, plan.totalBytes());
  }

  @ParameterizedTest
  @EnumSource
  void shouldAnswerWithTheBestSoFarWhenTheWatchEndsIt(Kind kind) {
    // One byte too much for the load, however they lie.
    List<TensorUsageRecord> records =
        List.of(
            new TensorUsageRecord(64, 0, 0),
            new TensorUsageRecord(64, 0, 1),
            new TensorUsageRecord(128, 1, 2),
            new TensorUsageRecord(64, 2, 3),
            new TensorUsageRecord(64, 3, 3),
            new TensorUsageRecord(64, 0, 3));
    int[] calls = new int[1];

    OffsetsAssignment plan =
        OrderSearch.assignOffsets(
            records,
            PlacementOrder.LIFE,
            1,
            tries(kind, Long.MAX_VALUE),
            (bytes, done) -> ++calls[0] < 10);

    assertTrue(calls[0] <= 10);
    assertEquals(Optional.empty(), PlanValidator.fault(records, plan));
  }

  @Test
  void shouldRefuseWhenOptionsAreOutOfBounds() {
    assertEquals(
        "time limit PT0S is not more than 0",
        assertThrows(
                IllegalArgumentException.class,
                () -> new SearchOptions(Kind.SWAPS, 1, Duration.ZERO, 1))
            .getMessage());
    assertEquals(
        "tries 0 are less than 1",
        assertThrows(
                IllegalArgumentException.class, () -> new SearchOptions(Kind.SWAPS, 1, LONG, 0))
            .getMessage());
  }
}
