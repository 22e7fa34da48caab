package io.prmalloc.internal.planner;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.plan.ConstrainedInstances;
import io.prmalloc.plan.OffsetsAssignment;
import io.prmalloc.plan.PlanValidator;
import io.prmalloc.plan.TensorConstraints;
import io.prmalloc.plan.TensorConstraints.Gap;
import io.prmalloc.plan.TensorUsageRecord;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("jdk-independent")
class ConstrainedPlacerTest {

  /** As the rule reads: every offset is tried, task by task, bit by bit. */
  private static long[] literalOffsets(ConstrainedProblem problem, int[] order) {
    long[] offsets = new long[order.length];
    long[] taken = new long[ConstrainedInstances.TASKS];
    for (boolean isFixed : new boolean[] {true, false}) {
      for (int tensor : order) {
        if (problem.fixed(tensor) >= 0 == isFixed) {
          TensorUsageRecord record = problem.records().get(tensor);
          offsets[tensor] = isFixed ? problem.fixed(tensor) : literalOffset(problem, tensor, taken);
          for (int task = 0; task < taken.length; task++) {
            taken[task] |= ConstrainedInstances.bits(record, task) << offsets[tensor];
          }
        }
      }
    }
    return offsets;
  }

  private static long literalOffset(ConstrainedProblem problem, int tensor, long[] taken) {
    TensorUsageRecord record = problem.records().get(tensor);
    long best = -1;
    long bestGap = Long.MAX_VALUE;
    long first = -1;
    int end = ConstrainedInstances.MAX_BYTES - 8;
    for (int offset = 0; offset <= end; offset++) {
      boolean isFree = offset < end;
      for (int task = 0; task < taken.length; task++) {
        isFree &= (taken[task] & ConstrainedInstances.bits(record, task) << offset) == 0;
      }
      if (isFree && first < 0 && offset % problem.step(tensor) == 0) {
        first = offset;
      }
      if (!isFree && first >= 0) {
        long gap = offset == end ? Long.MAX_VALUE : offset - first;
        if (best < 0 || gap < bestGap) {
          best = first;
          bestGap = gap;
        }
        first = -1;
      }
    }
    return best;
  }

  @Test
  void shouldPlaceAsTheRuleReadsWhenInputsAreRandom() {
    int compared = 0;
    for (long seed = 0; seed < 5_000; seed++) {
      ConstrainedProblem problem;
      try {
        problem =
            new ConstrainedProblem(ConstrainedInstances.random(new Random(seed), 6), 1 << seed % 2);
      } catch (IllegalArgumentException fixedOffsetsCollide) {
        continue;
      }
      int[] order = ConstrainedPlacer.bySize(problem);

      long[] offsets = ConstrainedPlacer.place(problem, order, false, () -> {});

      assertArrayEquals(literalOffsets(problem, order), offsets, "seed " + seed);
      compared++;
    }
    assertTrue(compared > 2_500, "only " + compared);
  }

  /** More than there may be for their pairs to be counted in an int. */
  @Test
  void shouldPlaceMoreThanCanBeComparedInPairs() {
    checkMany(50_000);
  }

  /** To look at all pairs takes a minute. */
  @Test
  @Tag("long")
  void shouldPlaceManyMoreThanCanBeComparedInPairs() {
    checkMany(100_000);
  }

  /** Each is alive with some dozens. */
  private static void checkMany(int count) {
    Random random = new Random(1);
    List<TensorUsageRecord> records = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      int first = random.nextInt(count);
      int last = first + 2 + random.nextInt(60);
      int size = 1 + random.nextInt(5000);
      TensorConstraints constraints =
          TensorConstraints.NONE
              .withGaps(List.of(new Gap(first + 1, last - 1, 0, size / 2)))
              .withHint(random.nextInt(1 << 20));
      records.add(new TensorUsageRecord(size, first, last, constraints));
    }

    OffsetsAssignment plan = ConstrainedPlacer.assignBySize(records, 1);

    assertEquals(Optional.empty(), PlanValidator.fault(records, plan));
  }
}
