package io.prmalloc.plan;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.prmalloc.internal.planner.MinCostFlowStrategy;
import io.prmalloc.internal.planner.index.ReallocationGraph;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CancellationException;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Tag("jdk-independent")
class MemoryStrategyTest {

  @Test
  void shouldEqualTheReferenceWhenAssigningObjects() throws IOException {
    int compared = 0;
    for (JsonNode reference : ReferencePlans.all()) {
      for (MemoryStrategy strategy : MemoryStrategy.values()) {
        JsonNode expected = reference.get("objects").get(strategy.label());
        if (expected == null) {
          continue;
        }
        String what = reference.get("name").asText() + " by " + strategy.label();
        int[] ids = ReferencePlans.ints(expected.get("objectIds"));
        if (ReferencePlans.isShaped(reference)) {
          assertEquals(
              ShapedObjectsAssignment.of(ids, ReferencePlans.shapes(expected.get("objectSizes"))),
              strategy.assignShapedObjects(ReferencePlans.shapedRecords(reference)),
              what);
        } else {
          ObjectsAssignment plan = strategy.assignObjects(ReferencePlans.records(reference));
          assertArrayEquals(ids, plan.objectIds(), what);
          assertArrayEquals(
              ReferencePlans.longs(expected.get("objectSizes")), plan.objectSizesBytes(), what);
        }
        compared++;
      }
    }
    assertTrue(compared >= 17, "compared " + compared + " plans");
  }

  @Test
  void shouldEqualTheReferenceWhenAssigningOffsets() throws IOException {
    int compared = 0;
    for (JsonNode reference : ReferencePlans.all()) {
      for (JsonNode expected : reference.get("offsets")) {
        List<TensorUsageRecord> records = ReferencePlans.records(reference);
        OffsetsAssignment plan =
            ReferencePlans.strategy(expected.get("strategy").asText())
                .assignOffsets(records, expected.get("alignment").asLong());

        String what = reference.get("name").asText();
        assertArrayEquals(ReferencePlans.longs(expected.get("offsets")), plan.offsets(), what);
        assertEquals(expected.get("totalBytes").asLong(), plan.totalBytes(), what);
        assertEquals(
            reference.get("lowerBoundBytes").asLong(), LowerBounds.loadBytes(records), what);
        compared++;
      }
    }
    assertTrue(compared >= 3, "compared " + compared + " plans");
  }

  @ParameterizedTest
  @EnumSource(MemoryStrategy.class)
  void shouldGiveAnEmptyPlanWhenThereAreNoTensors(MemoryStrategy strategy) {
    assertEquals(0, strategy.assignObjects(List.of()).totalBytes());
    assertEquals(0, strategy.assignOffsets(List.of(), 64).totalBytes());
  }

  /** Valid, not below the bounds, and the same as the plain rule written down word by word. */
  @ParameterizedTest
  @EnumSource(MemoryStrategy.class)
  void shouldAgreeWithThePlainRuleWhenLivesAreRandom(MemoryStrategy strategy) {
    long seed = new Random().nextLong();
    Random random = new Random(seed);
    for (int round = 0; round < 60; round++) {
      List<TensorUsageRecord> records =
          Records.random(random, random.nextInt(40), 1 + random.nextInt(30), 1 + random.nextInt(9));
      String what = "seed " + seed + ", round " + round + ": " + records;

      ObjectsAssignment plan = strategy.assignObjects(records);

      assertEquals(Optional.empty(), PlanValidator.fault(records, plan), what);
      assertTrue(plan.totalBytes() >= LowerBounds.objectsBytes(records), what);
      assertEquals(PlainObjects.assign(strategy, records), plan, what);

      OffsetsAssignment offsets = strategy.assignOffsets(records, 1L << random.nextInt(8));
      assertEquals(Optional.empty(), PlanValidator.fault(records, offsets), what);
      assertTrue(offsets.totalBytes() >= LowerBounds.loadBytes(records), what);
    }
  }

  /** Many tensors in each of a few tasks, some of which find objects of the tasks before. */
  @ParameterizedTest
  @EnumSource(value = MemoryStrategy.class, mode = EnumSource.Mode.EXCLUDE, names = "MIN_COST_FLOW")
  void shouldAgreeWithThePlainRuleWhenManyLiveAtOnce(MemoryStrategy strategy) {
    for (int seed = 0; seed < 20; seed++) {
      List<TensorUsageRecord> records =
          Records.random(new Random(seed), 120, 1 + seed % 5, 1 + seed % 3);

      assertEquals(
          PlainObjects.assign(strategy, records), strategy.assignObjects(records), "seed " + seed);
    }
  }

  /** Short lives side by side: many objects are equally near, and which is best is history. */
  @ParameterizedTest
  @EnumSource(
      value = MemoryStrategy.class,
      names = {"GREEDY_BY_SIZE", "GREEDY_BEST"})
  void shouldAgreeWithThePlainRuleWhenObjectsAreEquallyNear(MemoryStrategy strategy) {
    for (int seed = 0; seed < 60; seed++) {
      Random random = new Random(seed);
      int tasks = 20 + random.nextInt(150);
      int longest = 1 + random.nextInt(12);
      int sizes = 1 + random.nextInt(30);
      List<TensorUsageRecord> records =
          Stream.generate(
                  () -> {
                    int first = random.nextInt(tasks);
                    return new TensorUsageRecord(
                        random.nextInt(sizes), first, first + random.nextInt(longest));
                  })
              .limit(150)
              .toList();

      assertEquals(
          PlainObjects.assign(strategy, records), strategy.assignObjects(records), "seed " + seed);
    }
  }

  /**
   * Ends shared by many lives, tasks in which nothing begins, and thousands of ways to mix them.
   */
  @Test
  void shouldAgreeWithThePlainRuleBySizeWhenEndsAreShared() {
    for (int seed = 0; seed < 6000; seed++) {
      Random random = new Random(seed);
      int tasks = 1 + random.nextInt(random.nextInt(3) == 0 ? 8 : 60);
      int longest = 1 + random.nextInt(random.nextInt(3) == 0 ? 3 : 30);
      int sizes = 1 + random.nextInt(random.nextBoolean() ? 3 : 40);
      int step = 1 + random.nextInt(4);
      List<TensorUsageRecord> records =
          Stream.generate(
                  () -> {
                    int first = random.nextInt(tasks) * step;
                    return new TensorUsageRecord(
                        random.nextInt(sizes), first, first + random.nextInt(longest));
                  })
              .limit(random.nextInt(50))
              .toList();

      assertEquals(
          PlainObjects.assign(MemoryStrategy.GREEDY_BY_SIZE, records),
          MemoryStrategy.GREEDY_BY_SIZE.assignObjects(records),
          "seed " + seed);
    }
  }

  /** So many that a matrix of tensors and objects would not fit a test's heap, or its patience. */
  @ParameterizedTest
  @EnumSource(MemoryStrategy.class)
  void shouldGiveEachAnObjectWhenFiftyThousandLiveAtOnce(MemoryStrategy strategy) {
    int count = 50_000;
    Random random = new Random(1);
    List<TensorUsageRecord> records =
        Stream.generate(
                () ->
                    new TensorUsageRecord(
                        1 + random.nextInt(1 << 20),
                        random.nextInt(count),
                        count + random.nextInt(count)))
            .limit(count)
            .toList();

    ObjectsAssignment plan = strategy.assignObjects(records);

    assertEquals(count, plan.objectCount());
    assertEquals(LowerBounds.loadBytes(records), plan.totalBytes());
  }

  /** All ways to share objects, for few tensors: none is below the bound, nor any plan below it. */
  @Test
  void shouldNotBeatTheBestOfAllPlansWhenTensorsAreFew() {
    long seed = new Random().nextLong();
    Random random = new Random(seed);
    for (int round = 0; round < 300; round++) {
      List<TensorUsageRecord> records = Records.random(random, 1 + random.nextInt(6), 6, 4);
      long best = bestOfAll(records, new int[records.size()], 0, 0);
      String what = "seed " + seed + ": " + records;

      assertTrue(LowerBounds.objectsBytes(records) <= best, what);
      for (MemoryStrategy strategy : MemoryStrategy.values()) {
        assertTrue(strategy.assignObjects(records).totalBytes() >= best, strategy + ", " + what);
      }
    }
  }

  private static long bestOfAll(
      List<TensorUsageRecord> records, int[] ids, int tensor, int objects) {
    if (tensor == ids.length) {
      long[] sizes = new long[objects];
      for (int i = 0; i < ids.length; i++) {
        sizes[ids[i]] = Math.max(sizes[ids[i]], records.get(i).sizeBytes());
      }
      ObjectsAssignment plan = ObjectsAssignment.of(ids, sizes);
      return PlanValidator.fault(records, plan).isEmpty() ? plan.totalBytes() : Long.MAX_VALUE;
    }
    long best = Long.MAX_VALUE;
    for (int object = 0; object <= objects; object++) {
      ids[tensor] = object;
      best = Math.min(best, bestOfAll(records, ids, tensor + 1, Math.max(objects, object + 1)));
    }
    return best;
  }

  @ParameterizedTest
  @EnumSource(MemoryStrategy.class)
  void shouldAnswerInTheCallersOrderWhenRecordsAreUnsorted(MemoryStrategy strategy) {
    long seed = new Random().nextLong();
    Random random = new Random(seed);
    // Distinct first tasks: sorting has nothing to decide.
    List<TensorUsageRecord> sorted = new ArrayList<>();
    for (int i = 0; i < 30; i++) {
      sorted.add(new TensorUsageRecord(random.nextInt(100), i, i + random.nextInt(5)));
    }
    List<Integer> places = new ArrayList<>(IntStream.range(0, 30).boxed().toList());
    Collections.shuffle(places, random);
    List<TensorUsageRecord> shuffled = places.stream().map(sorted::get).toList();

    ObjectsAssignment expected = strategy.assignObjects(sorted);
    ObjectsAssignment plan = strategy.assignObjects(shuffled);

    assertArrayEquals(expected.objectSizesBytes(), plan.objectSizesBytes(), "seed " + seed);
    assertArrayEquals(
        places.stream().mapToInt(expected::objectId).toArray(), plan.objectIds(), "seed " + seed);
  }

  @Test
  void shouldHonourTheGraphWhenReallocating() {
    List<TensorUsageRecord> records = Records.of(10, 0, 0, 10, 1, 1, 10, 2, 2, 10, 3, 3);
    // 0 may be followed by 3 only, 1 by 2 and 3.
    List<List<Integer>> followers = List.of(List.of(3), List.of(2, 3), List.of(), List.of());

    ObjectsAssignment plan = MemoryStrategy.GREEDY_IN_ORDER.assignObjects(records, followers);

    assertEquals(ObjectsAssignment.of(new int[] {0, 1, 1, 0}, new long[] {10, 10}), plan);
  }

  @Test
  void shouldAgreeWithThePlainRuleWhenReallocating() {
    long seed = new Random().nextLong();
    Random random = new Random(seed);
    for (int round = 0; round < 60; round++) {
      int count = random.nextInt(30);
      List<TensorUsageRecord> records = Records.random(random, count, 20, 5);
      List<List<Integer>> followers = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        followers.add(
            IntStream.range(0, count).filter(j -> random.nextInt(3) == 0).boxed().toList());
      }

      ObjectsAssignment plan = MemoryStrategy.GREEDY_IN_ORDER.assignObjects(records, followers);

      assertEquals(Optional.empty(), PlanValidator.fault(records, plan), "seed " + seed);
      assertEquals(
          PlainObjects.greedyInOrder(records, new ReallocationGraph(followers)),
          plan,
          "seed " + seed + ": " + records);
    }
  }

  @ParameterizedTest
  @EnumSource(MemoryStrategy.class)
  void shouldTakeTheGraphOnlyWhenItIsDefined(MemoryStrategy strategy) {
    List<TensorUsageRecord> records = Records.of(1, 0, 0);
    List<List<Integer>> followers = List.of(List.of());
    if (strategy == MemoryStrategy.GREEDY_IN_ORDER) {
      assertEquals(1, strategy.assignObjects(records, followers).objectCount());
      return;
    }

    IllegalArgumentException e =
        assertThrows(
            IllegalArgumentException.class, () -> strategy.assignObjects(records, followers));

    assertEquals(
        strategy.label() + " is not defined with a reallocation graph; greedy-in-order is",
        e.getMessage());
  }

  @Test
  void shouldRefuseWhenAGraphCannotBe() {
    List<TensorUsageRecord> records = Records.of(1, 0, 0, 1, 1, 1);
    assertEquals(
        "tensor 2 may follow tensor 0, but there are 2",
        assertThrows(
                IllegalArgumentException.class,
                () ->
                    MemoryStrategy.GREEDY_IN_ORDER.assignObjects(
                        records, List.of(List.of(2), List.of())))
            .getMessage());
    assertEquals(
        "the tensors that may follow tensor 1 do not ascend at 0",
        assertThrows(
                IllegalArgumentException.class,
                () ->
                    MemoryStrategy.GREEDY_IN_ORDER.assignObjects(
                        records, List.of(List.of(), List.of(1, 0))))
            .getMessage());
    assertEquals(
        "the reallocation graph is for 2 tensors, but there are 1",
        assertThrows(
                IllegalArgumentException.class,
                () ->
                    MemoryStrategy.GREEDY_IN_ORDER.assignObjects(
                        Records.of(1, 0, 0), List.of(List.of(), List.of())))
            .getMessage());
  }

  @Test
  void shouldSaySoWhenAStrategyIsNotDefinedForTheShapes() {
    String defined = "";
    for (MemoryStrategy strategy : MemoryStrategy.values()) {
      for (int dimensions = 2; dimensions <= 4; dimensions++) {
        TensorShape shape = new TensorShape(Collections.nCopies(dimensions, 2L));
        List<ShapedUsageRecord> records = List.of(new ShapedUsageRecord(shape, 0, 1));
        if (strategy.takesShapes(dimensions)) {
          assertEquals(List.of(shape), strategy.assignShapedObjects(records).objectShapes());
          defined += strategy.label() + dimensions + " ";
        } else {
          assertEquals(
              strategy.label() + " is not defined for sizes of " + dimensions + " dimensions",
              assertThrows(
                      IllegalArgumentException.class, () -> strategy.assignShapedObjects(records))
                  .getMessage());
        }
      }
    }
    assertEquals(
        "naive2 naive3 naive4 equality2 equality3 equality4 greedy-in-order2 greedy-in-order3 ",
        defined);
  }

  @Test
  void shouldRefuseWhenShapesDifferInTheirDimensions() {
    List<ShapedUsageRecord> records =
        List.of(
            new ShapedUsageRecord(TensorShape.of(2L, 2L), 0, 0),
            new ShapedUsageRecord(TensorShape.of(2L, 2L, 2L), 0, 0));

    assertEquals(
        "sizes 2x2 and 2x2x2 differ in their number of dimensions",
        assertThrows(
                IllegalArgumentException.class,
                () -> MemoryStrategy.NAIVE.assignShapedObjects(records))
            .getMessage());
  }

  @Test
  void shouldTakeTheSmallestIdOrTheLastFreedWhenShapesAreEqual() {
    // Object 0 is freed after object 1.
    List<long[]> lives = List.of(new long[] {0, 2}, new long[] {0, 1}, new long[] {3, 3});
    for (int dimensions = 2; dimensions <= 4; dimensions++) {
      TensorShape shape = new TensorShape(Collections.nCopies(dimensions, 3L));
      List<ShapedUsageRecord> records =
          lives.stream().map(life -> new ShapedUsageRecord(shape, life[0], life[1])).toList();

      assertEquals(0, MemoryStrategy.EQUALITY.assignShapedObjects(records).objectId(2));

      // And here before it.
      List<ShapedUsageRecord> swapped =
          List.of(
              new ShapedUsageRecord(shape, 0, 1),
              new ShapedUsageRecord(shape, 0, 2),
              new ShapedUsageRecord(shape, 3, 3));
      assertEquals(
          dimensions < 4 ? 0 : 1, MemoryStrategy.EQUALITY.assignShapedObjects(swapped).objectId(2));
    }
  }

  @ParameterizedTest
  @EnumSource(MemoryStrategy.class)
  void shouldPlanWhenATensorIsAsLargeAsANumberCanBe(MemoryStrategy strategy) {
    List<TensorUsageRecord> records = List.of(new TensorUsageRecord(Long.MAX_VALUE, 0, 0));

    assertEquals(Long.MAX_VALUE, strategy.assignObjects(records).objectSizeBytes(0));
    assertEquals(Long.MAX_VALUE, strategy.assignOffsets(records, 1).totalBytes());
  }

  @Test
  void shouldRefuseWhenThereAreTooManyTensorsForAFlow() {
    List<TensorUsageRecord> records =
        new ArrayList<>(
            Collections.nCopies(MinCostFlowStrategy.MAX_TENSORS, new TensorUsageRecord(1, 0, 0)));
    records.add(new TensorUsageRecord(1, 1, 1));

    assertEquals(
        "min-cost-flow takes at most 2000 tensors, for its cost grows with their cube; there are"
            + " 2001",
        assertThrows(
                IllegalArgumentException.class,
                () -> MemoryStrategy.MIN_COST_FLOW.assignObjects(records))
            .getMessage());
  }

  @ParameterizedTest
  @EnumSource(MemoryStrategy.class)
  void shouldStopWhenInterrupted(MemoryStrategy strategy) {
    if (strategy == MemoryStrategy.NAIVE) {
      return;
    }
    Thread.currentThread().interrupt();

    assertThrows(
        CancellationException.class, () -> strategy.assignObjects(Records.of(1, 0, 0, 1, 0, 0)));
    assertFalse(Thread.interrupted());
  }
}
