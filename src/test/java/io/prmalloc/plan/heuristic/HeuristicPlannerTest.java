package io.prmalloc.plan.heuristic;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.plan.OffsetsAssignment;
import io.prmalloc.plan.PlanValidator;
import io.prmalloc.plan.TensorUsageRecord;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.CancellationException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("jdk-independent")
class HeuristicPlannerTest {

  /** Few sizes and short times, so that gaps of equal length and equal starts are common. */
  static List<TensorUsageRecord> random(SplittableRandom random) {
    int count = random.nextInt(1, 40);
    int tasks = random.nextInt(1, 30);
    int sizes = random.nextInt(1, 12);
    List<TensorUsageRecord> records = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      int first = random.nextInt(tasks);
      int last = Math.min(tasks - 1, first + random.nextInt(random.nextInt(1, tasks + 1)));
      long bytes = random.nextInt(8) == 0 ? 0 : random.nextInt(64) + 64L * random.nextInt(sizes);
      records.add(new TensorUsageRecord(bytes, first, last));
    }
    return records;
  }

  @Test
  void shouldPlaceAsTheRuleReadsWhenInputsAreRandom() {
    for (long seed = 0; seed < 4000; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      List<TensorUsageRecord> records = random(random);
      for (PlacementOrder order : PlacementOrder.values()) {
        OffsetsAssignment plan = HeuristicPlanner.assignOffsets(records, order, 1);

        assertArrayEquals(
            NaivePlacement.offsets(records, order.sort(records, 64), order.seesGround()),
            plan.offsets(),
            "seed " + seed + ", " + order.label());
        assertEquals(Optional.empty(), PlanValidator.fault(records, plan), "seed " + seed);
        assertEquals(0, plan.totalBytes() % 64, "seed " + seed);
      }
    }
  }

  /** As where many are alive at once. */
  @Test
  void shouldPlaceAsTheRuleReadsWhenFreeRectanglesAreUsed() {
    for (long seed = 0; seed < 6000; seed++) {
      List<TensorUsageRecord> records = random(new SplittableRandom(seed));

      for (PlacementOrder order : PlacementOrder.values()) {
        OffsetsAssignment plan = HeuristicPlanner.assignOffsets(records, order, 1, 0);

        assertArrayEquals(
            NaivePlacement.offsets(records, order.sort(records, 64), order.seesGround()),
            plan.offsets(),
            "seed " + seed + ", " + order.label());
        assertEquals(0, plan.totalBytes() % 64, "seed " + seed);
        assertEquals(Optional.empty(), PlanValidator.fault(records, plan), "seed " + seed);
      }
    }
  }

  /** So many alive at once that the planner takes rectangles by itself. */
  @Test
  void shouldPlaceTheSameWhenManyAreAliveAtOnce() {
    SplittableRandom random = new SplittableRandom(1);
    List<TensorUsageRecord> records = new ArrayList<>();
    for (int i = 0; i < 6000; i++) {
      int first = random.nextInt(6000);
      records.add(
          new TensorUsageRecord(random.nextInt(5000), first, first + random.nextInt(1, 4000)));
    }
    for (PlacementOrder order : PlacementOrder.values()) {
      OrderPlacer placer = new OrderPlacer(records, order.seesGround(), 64);
      long total = placer.place(order.sort(records, 64), Long.MAX_VALUE);

      OffsetsAssignment plan = HeuristicPlanner.assignOffsets(records, order, 1);

      assertArrayEquals(placer.offsets(), plan.offsets());
      assertEquals(total, plan.totalBytes());
    }
  }

  /** Two gaps that no task closes, at 64 and 192: the lower one. */
  @Test
  void shouldPreferTheLowestGapWhenNoneHasAnEnd() {
    List<TensorUsageRecord> records =
        List.of(
            new TensorUsageRecord(128, 0, 1),
            new TensorUsageRecord(64, 1, 3),
            new TensorUsageRecord(64, 5, 6),
            new TensorUsageRecord(320, 10, 11),
            new TensorUsageRecord(64, 8, 10),
            new TensorUsageRecord(64, 2, 9));
    int[] order = {0, 1, 2, 3, 4, 5};
    OrderPlacer placer = new OrderPlacer(records, true, 64);

    placer.place(order, Long.MAX_VALUE);

    assertArrayEquals(new long[] {0, 128, 0, 0, 320, 64}, placer.offsets());
    assertArrayEquals(NaivePlacement.offsets(records, order, true), placer.offsets());
  }

  /** In other orders than the fixed ones lives lie within each other in more ways. */
  @Test
  void shouldPlaceAsTheRuleReadsWhenOrdersAreRandom() {
    for (long seed = 0; seed < 6000; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      List<TensorUsageRecord> records = random(random);
      int[] order = PlacementOrder.LIFE.sort(records, 64);
      for (int i = order.length - 1; i > 0; i--) {
        int other = random.nextInt(i + 1);
        int moved = order[i];
        order[i] = order[other];
        order[other] = moved;
      }
      boolean seesGround = random.nextBoolean();
      // With a tree, and without.
      OrderPlacer placer =
          new OrderPlacer(records, seesGround, 64, seed % 2 == 0 ? 0 : Integer.MAX_VALUE);

      placer.place(order, Long.MAX_VALUE);

      assertArrayEquals(
          NaivePlacement.offsets(records, order, seesGround), placer.offsets(), "seed " + seed);
    }
  }

  /** One placer, many orders: what it keeps of the last order must not show. */
  @Test
  void shouldPlaceAsTheRuleReadsWhenOrdersFollowEachOther() {
    for (long seed = 0; seed < 200; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      List<TensorUsageRecord> records = random(random);
      boolean seesGround = random.nextBoolean();
      // With a tree, and without.
      OrderPlacer placer =
          new OrderPlacer(records, seesGround, 64, seed % 2 == 0 ? 0 : Integer.MAX_VALUE);
      int[] order = PlacementOrder.SIZE.sort(records, 64);
      for (int i = 0; i < 30; i++) {
        int from = random.nextInt(order.length);
        int to = random.nextInt(order.length);
        int moved = order[from];
        order[from] = order[to];
        order[to] = moved;
        long[] expected = NaivePlacement.offsets(records, order, seesGround);
        long total = 0;
        for (int k = 0; k < expected.length; k++) {
          total =
              Math.max(total, expected[k] + OrderPlacer.rounded(records.get(k).sizeBytes(), 64));
        }
        long limit = total + random.nextInt(-100, 100);
        long answer = placer.place(order, limit);
        if (total <= limit) {
          assertEquals(total, answer, "seed " + seed);
          assertArrayEquals(expected, placer.offsets(), "seed " + seed);
        } else {
          assertTrue(answer > limit, "seed " + seed);
        }
      }
    }
  }

  /** So many that the placer takes a tree by itself, of which few are alive at once. */
  @Test
  void shouldPlaceTheSameWhenATreeIsUsed() {
    SplittableRandom random = new SplittableRandom(1);
    List<TensorUsageRecord> records = new ArrayList<>();
    for (int i = 0; i < 3000; i++) {
      int first = random.nextInt(3000);
      int length = random.nextInt(20) == 0 ? 300 : 20;
      records.add(
          new TensorUsageRecord(random.nextInt(5000), first, first + random.nextInt(1, length)));
    }
    for (PlacementOrder order : PlacementOrder.values()) {
      OrderPlacer placer = new OrderPlacer(records, order.seesGround(), 64, Integer.MAX_VALUE);
      placer.place(order.sort(records, 64), Long.MAX_VALUE);

      assertArrayEquals(
          placer.offsets(), HeuristicPlanner.assignOffsets(records, order, 1).offsets());
    }
  }

  @Test
  void shouldPreferTheTightestGapWhenSeveralHoldIt() {
    // Two long ones below and above a gap of 128 at 64, and one of 64 at 256.
    List<TensorUsageRecord> records =
        List.of(
            new TensorUsageRecord(64, 0, 9),
            new TensorUsageRecord(128, 0, 4),
            new TensorUsageRecord(64, 0, 8),
            new TensorUsageRecord(64, 0, 3),
            new TensorUsageRecord(64, 0, 7),
            new TensorUsageRecord(64, 5, 6));
    OrderPlacer placer = new OrderPlacer(records, true, 64);

    placer.place(new int[] {0, 1, 2, 3, 4, 5}, Long.MAX_VALUE);

    assertArrayEquals(new long[] {0, 64, 192, 256, 320, 256}, placer.offsets());
  }

  @Test
  void shouldNeedNothingWhenThereIsNothing() {
    for (PlacementOrder order : PlacementOrder.values()) {
      assertEquals(0, HeuristicPlanner.assignOffsets(List.of(), order, 1).totalBytes());
      OffsetsAssignment zero =
          HeuristicPlanner.assignOffsets(List.of(new TensorUsageRecord(0, 3, 9)), order, 1);
      assertEquals(0, zero.totalBytes());
      assertEquals(0, zero.offset(0));
    }
  }

  @Test
  void shouldCountRoundedSizesWhenTasksAreFarApart() {
    List<TensorUsageRecord> records =
        List.of(
            new TensorUsageRecord(1, 0, Long.MAX_VALUE - 1),
            new TensorUsageRecord(65, 1L << 60, 1L << 61));

    OffsetsAssignment plan = HeuristicPlanner.assignOffsets(records, PlacementOrder.LIFE, 1);

    assertEquals(192, plan.totalBytes());
    assertArrayEquals(new long[] {0, 64}, plan.offsets());
  }

  @Test
  void shouldRefuseWhenSizesPassTheLongs() {
    List<TensorUsageRecord> records =
        List.of(new TensorUsageRecord(1L << 62, 0, 0), new TensorUsageRecord((1L << 62) + 1, 1, 1));

    IllegalArgumentException refused =
        assertThrows(
            IllegalArgumentException.class,
            () -> HeuristicPlanner.assignOffsets(records, PlacementOrder.LIFE, 1));

    assertEquals(
        "the sizes together pass 2^63 - 1 at tensor 1 of 4611686018427387905",
        refused.getMessage());
  }

  @Test
  void shouldStopWhenInterrupted() {
    Thread.currentThread().interrupt();

    assertThrows(
        CancellationException.class,
        () ->
            HeuristicPlanner.assignOffsets(
                List.of(new TensorUsageRecord(1, 0, 0)), PlacementOrder.LIFE, 1));
  }
}
