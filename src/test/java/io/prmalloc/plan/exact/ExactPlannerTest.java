package io.prmalloc.plan.exact;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.plan.LowerBounds;
import io.prmalloc.plan.MemoryStrategy;
import io.prmalloc.plan.PlanValidator;
import io.prmalloc.plan.Records;
import io.prmalloc.plan.TensorUsageRecord;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("jdk-independent")
class ExactPlannerTest {

  private static final ExactOptions ONE_THREAD = ExactOptions.DEFAULTS.withThreads(1);

  private static ExactPlan minimize(ExactOptions options, List<TensorUsageRecord> records) {
    return minimize(options, records, 1);
  }

  private static ExactPlan minimize(
      ExactOptions options, List<TensorUsageRecord> records, long alignment) {
    ExactPlan plan = new ExactPlanner(options).minimize(records, alignment, PlanWatcher.NONE);
    assertEquals(Optional.empty(), PlanValidator.fault(records, plan.assignment()));
    assertEquals(alignment, plan.assignment().alignment());
    return plan;
  }

  private static List<TensorUsageRecord> few(Random random) {
    return Records.random(random, 1 + random.nextInt(7), 1 + random.nextInt(8), 5);
  }

  @Test
  void shouldBeAsSmallAsAnyPlanWhenThereAreFewTensors() {
    for (int seed = 0; seed < 150; seed++) {
      Random random = new Random(seed);
      List<TensorUsageRecord> records = few(random);
      long alignment = 1L << random.nextInt(8);

      ExactPlan plan = minimize(ONE_THREAD, records, alignment);

      assertTrue(plan.isOptimal(), "seed " + seed);
      assertEquals(
          BruteForce.smallestByOrders(records, alignment), plan.totalBytes(), "seed " + seed);
    }
  }

  @Test
  void shouldSayWhetherTensorsFitWhenTheGridIsTiny() {
    int fitting = 0;
    int others = 0;
    for (int seed = 0; seed < 60; seed++) {
      Random random = new Random(seed);
      List<TensorUsageRecord> records = new ArrayList<>();
      for (int i = 0; i < 6; i++) {
        int first = random.nextInt(6);
        records.add(new TensorUsageRecord(random.nextInt(4), first, first + random.nextInt(4)));
      }
      long alignment = 1L << random.nextInt(2);
      for (long capacity = 0; capacity <= 10; capacity++) {
        boolean expected = BruteForce.fitsOnGrid(records, alignment, capacity);

        CapacityAnswer answer =
            new ExactPlanner(ONE_THREAD).fit(records, alignment, capacity, PlanWatcher.NONE);

        assertEquals(
            expected ? CapacityAnswer.Outcome.FITS : CapacityAnswer.Outcome.DOES_NOT_FIT,
            answer.outcome(),
            "seed " + seed + ", capacity " + capacity);
        assertEquals(expected, answer.best().totalBytes() <= capacity);
        assertEquals(Optional.empty(), PlanValidator.fault(records, answer.best().assignment()));
        fitting += expected ? 1 : 0;
        others += expected ? 0 : 1;
      }
    }
    assertTrue(fitting > 100 && others > 100, fitting + " fit, " + others + " do not");
  }

  @Test
  void shouldAnswerTheSameWhateverTechniquesItUses() {
    for (int seed = 0; seed < 250; seed++) {
      Random random = new Random(seed);
      List<TensorUsageRecord> records =
          Records.random(random, 1 + random.nextInt(10), 1 + random.nextInt(8), 6);
      Set<Technique> some = EnumSet.noneOf(Technique.class);
      for (Technique technique : Technique.values()) {
        if (random.nextBoolean()) {
          some.add(technique);
        }
      }
      // Without restarts a search for too small a plan has to end by itself.
      long expected = minimize(ONE_THREAD, records).totalBytes();

      ExactPlan plan = minimize(ONE_THREAD.withTechniques(some), records);

      assertTrue(plan.isOptimal(), "seed " + seed + " with " + some);
      assertEquals(expected, plan.totalBytes(), "seed " + seed + " with " + some);
    }
  }

  @ParameterizedTest
  @EnumSource
  void shouldFillAStripWhenOneTechniqueIsLeftOut(Technique technique) {
    Set<Technique> others = EnumSet.complementOf(EnumSet.of(technique));
    for (int seed = 0; seed < 20; seed++) {
      List<TensorUsageRecord> records = PackedInstances.random(new Random(seed), 14, 12, 64);

      ExactPlan plan = minimize(ONE_THREAD.withTechniques(others), records);

      assertEquals(12 * 64, plan.totalBytes(), "seed " + seed + " without " + technique);
    }
  }

  @Test
  void shouldFillAStripWhenThereAreManyTensors() {
    for (int seed = 0; seed < 8; seed++) {
      List<TensorUsageRecord> records = PackedInstances.random(new Random(seed), 90, 300, 1024);

      CapacityAnswer answer =
          new ExactPlanner(ONE_THREAD).fit(records, 64, 300 * 1024, PlanWatcher.NONE);

      assertEquals(CapacityAnswer.Outcome.FITS, answer.outcome(), "seed " + seed);
      assertTrue(answer.best().isOptimal(), "seed " + seed);
      assertEquals(Optional.empty(), PlanValidator.fault(records, answer.best().assignment()));
    }
  }

  @Test
  void shouldProveItWhenTheCapacityIsOneByteTooSmall() {
    int proofs = 0;
    for (int seed = 0; seed < 800; seed++) {
      Random random = new Random(seed);
      List<TensorUsageRecord> records = PackedInstances.dense(random, 9, 7);
      boolean expected = BruteForce.fitsOnGrid(records, 1, 7);
      Set<Technique> some = EnumSet.allOf(Technique.class);
      some.remove(List.copyOf(some).get(random.nextInt(some.size())));
      ExactPlanner planner = new ExactPlanner(ONE_THREAD.withTechniques(some));

      CapacityAnswer answer = planner.fit(records, 1, 7, PlanWatcher.NONE);

      assertEquals(
          expected ? CapacityAnswer.Outcome.FITS : CapacityAnswer.Outcome.DOES_NOT_FIT,
          answer.outcome(),
          "seed " + seed + " with " + some);
      if (!expected) {
        proofs++;
        ExactPlan least = planner.minimize(records, 1, PlanWatcher.NONE);
        assertTrue(least.isOptimal(), "seed " + seed);
        assertFalse(BruteForce.fitsOnGrid(records, 1, least.totalBytes() - 1), "seed " + seed);
      }
    }
    assertTrue(proofs >= 3, proofs + " of the instances need more than their load");
  }

  @Test
  void shouldNeedAsMuchWhenTimeRunsBackwardsOrRecordsAreShuffled() {
    for (int seed = 0; seed < 100; seed++) {
      Random random = new Random(seed);
      List<TensorUsageRecord> records = Records.random(random, 12, 10, 6);
      List<TensorUsageRecord> backwards =
          new ArrayList<>(
              records.stream()
                  .map(
                      r ->
                          new TensorUsageRecord(
                              r.sizeBytes(), 99 - r.lastTask(), 99 - r.firstTask()))
                  .toList());
      Collections.shuffle(backwards, random);

      assertEquals(
          minimize(ONE_THREAD, records).totalBytes(),
          minimize(ONE_THREAD, backwards).totalBytes(),
          "seed " + seed);
    }
  }

  @Test
  void shouldNeedTheLoadWhenSizesAreEqual() {
    // Intervals of equal size are coloured with as many colours as are alive at once.
    for (int seed = 0; seed < 30; seed++) {
      Random random = new Random(seed);
      List<TensorUsageRecord> records = new ArrayList<>();
      for (int i = 0; i < 200; i++) {
        int first = random.nextInt(100);
        records.add(new TensorUsageRecord(4096, first, first + random.nextInt(30)));
      }

      ExactPlan plan = minimize(ONE_THREAD, records);

      assertEquals(LowerBounds.loadBytes(records), plan.totalBytes(), "seed " + seed);
      assertTrue(plan.isOptimal());
    }
  }

  @Test
  void shouldNeedOneMoreTensorWhenOneIsAliveForEver() {
    for (int seed = 0; seed < 60; seed++) {
      List<TensorUsageRecord> records = few(new Random(seed));
      long without = minimize(ONE_THREAD, records).totalBytes();
      List<TensorUsageRecord> more = new ArrayList<>(records);
      more.add(new TensorUsageRecord(1000, 0, Long.MAX_VALUE - 1));

      assertEquals(without + 1000, minimize(ONE_THREAD, more).totalBytes(), "seed " + seed);
    }
  }

  @Test
  void shouldHaveAnEmptyPlanWhenNothingHasASize() {
    assertEquals(0, minimize(ONE_THREAD, List.of()).totalBytes());
    ExactPlan plan = minimize(ONE_THREAD, Records.of(0, 0, 5, 0, 2, 3), 64);
    assertEquals(0, plan.totalBytes());
    assertTrue(plan.isOptimal());
    assertEquals(0, plan.gap());
    assertEquals(
        CapacityAnswer.Outcome.FITS,
        new ExactPlanner(ONE_THREAD).fit(List.of(), 1, 0, PlanWatcher.NONE).outcome());
    assertEquals(
        CapacityAnswer.Outcome.DOES_NOT_FIT,
        new ExactPlanner(ONE_THREAD).fit(Records.of(1, 0, 0), 1, 0, PlanWatcher.NONE).outcome());
  }

  @Test
  void shouldCountTheTrueSizeOfTheTopmostWhenOffsetsAreAligned() {
    // 64 of the one below, 1 of the one above; the other way round it would be 64 + 33.
    ExactPlan plan = minimize(ONE_THREAD, Records.of(33, 0, 1, 1, 1, 2), 64);

    assertEquals(65, plan.totalBytes());
    assertTrue(plan.isOptimal());
  }

  @Test
  void shouldHaveTheSamePlanWhenSeedAndStepsAreTheSame() {
    List<TensorUsageRecord> records = PackedInstances.random(new Random(5), 150, 400, 512);
    ExactOptions options = ONE_THREAD.withSeed(7).withMaxSearchSteps(3000);

    ExactPlan plan = minimize(options, records);

    assertEquals(plan, minimize(options, records));
    long greedy = MemoryStrategy.GREEDY_BY_SIZE.assignOffsets(records, 1).totalBytes();
    assertTrue(plan.totalBytes() <= greedy, plan + " against " + greedy);
  }

  @Test
  void shouldHaveBetterAndBetterPlansWhenSomebodyWatches() {
    List<TensorUsageRecord> records = PackedInstances.random(new Random(3), 60, 100, 1);
    List<ExactPlan> seen = Collections.synchronizedList(new ArrayList<>());
    PlanWatcher watcher =
        new PlanWatcher() {
          @Override
          public void improved(ExactPlan best) {
            seen.add(best);
          }
        };

    ExactPlan plan = new ExactPlanner(ExactOptions.DEFAULTS).minimize(records, 1, watcher);

    for (int i = 1; i < seen.size(); i++) {
      assertTrue(
          seen.get(i).totalBytes() < seen.get(i - 1).totalBytes()
              || seen.get(i).lowerBoundBytes() > seen.get(i - 1).lowerBoundBytes(),
          seen.toString());
    }
    assertEquals(plan, seen.get(seen.size() - 1));
  }

  @Test
  void shouldGiveTheGreedyPlanWhenItIsCancelledAtOnce() {
    List<TensorUsageRecord> records = PackedInstances.random(new Random(1), 200, 500, 1);

    ExactPlan plan = ExactPlanner.minimize(records, 1, Duration.ofDays(1000 * 365), () -> true);

    assertEquals(
        MemoryStrategy.GREEDY_BY_SIZE.assignOffsets(records, 1).totalBytes(), plan.totalBytes());
    assertFalse(plan.isOptimal());
    assertEquals(500, plan.lowerBoundBytes());
    assertTrue(plan.gap() > 0);
  }

  @Test
  void shouldStillBeInterruptedWhenAnInterruptEndedIt() {
    List<TensorUsageRecord> records = PackedInstances.random(new Random(1), 200, 500, 1);
    Thread.currentThread().interrupt();

    ExactPlan plan = new ExactPlanner(ONE_THREAD).minimize(records, 1, PlanWatcher.NONE);

    assertTrue(Thread.interrupted());
    assertEquals(Optional.empty(), PlanValidator.fault(records, plan.assignment()));
  }

  @Test
  void shouldThrowWhatTheWatcherThrows() {
    PlanWatcher watcher =
        new PlanWatcher() {
          @Override
          public void improved(ExactPlan best) {
            throw new IllegalStateException("enough");
          }
        };
    ExactPlanner planner = new ExactPlanner(ExactOptions.DEFAULTS);

    IllegalStateException thrown =
        assertThrows(
            IllegalStateException.class, () -> planner.minimize(Records.of(1, 0, 0), 1, watcher));

    assertEquals("enough", thrown.getMessage());
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 3, -1, 1L << 31})
  void shouldNameTheAlignmentWhenItIsOutOfItsBounds(long alignment) {
    ExactPlanner planner = new ExactPlanner(ONE_THREAD);

    IllegalArgumentException thrown =
        assertThrows(
            IllegalArgumentException.class,
            () -> planner.minimize(Records.of(1, 0, 0), alignment, PlanWatcher.NONE));

    assertTrue(thrown.getMessage().startsWith("alignment " + alignment), thrown.getMessage());
  }

  @Test
  void shouldRefuseWhatIsOutOfBounds() {
    ExactPlanner planner = new ExactPlanner(ONE_THREAD);
    assertEquals(
        "capacity -1 is negative; the least is 0",
        assertThrows(
                IllegalArgumentException.class,
                () -> planner.fit(List.of(), 1, -1, PlanWatcher.NONE))
            .getMessage());
    assertEquals(
        "size 9223372036854775807 takes the sum of all sizes, aligned, over 2^63 - 1",
        assertThrows(
                IllegalArgumentException.class,
                () ->
                    planner.minimize(
                        Records.of(1, 0, 0, Long.MAX_VALUE, 5, 5), 64, PlanWatcher.NONE))
            .getMessage());
    assertEquals(
        "threads 0 are not from 1 to 256",
        assertThrows(IllegalArgumentException.class, () -> ONE_THREAD.withThreads(0)).getMessage());
    assertEquals(
        "timeout PT0S is not more than 0",
        assertThrows(IllegalArgumentException.class, () -> ONE_THREAD.withTimeout(Duration.ZERO))
            .getMessage());
    assertEquals(
        "search steps 0 are less than 1",
        assertThrows(IllegalArgumentException.class, () -> ONE_THREAD.withMaxSearchSteps(0))
            .getMessage());
  }

  @Test
  void shouldBeatGreedyBySizeWhenThereAreThousandsOfTensors() {
    List<TensorUsageRecord> records = Records.random(new Random(4), 6000, 6000, 300);
    long greedy = MemoryStrategy.GREEDY_BY_SIZE.assignOffsets(records, 1).totalBytes();

    ExactPlan plan = minimize(ONE_THREAD.withMaxSearchSteps(1), records);

    assertTrue(plan.totalBytes() < greedy, plan + " against " + greedy);
    assertEquals(plan, minimize(ONE_THREAD.withMaxSearchSteps(1), records));
    assertEquals(
        greedy,
        minimize(
                ONE_THREAD
                    .withMaxSearchSteps(1)
                    .withTechniques(EnumSet.of(Technique.FEWEST_CHOICES)),
                records)
            .totalBytes());
  }

  @Test
  void shouldLearnWhenBestFitGoesOn() {
    List<TensorUsageRecord> records = Records.random(new Random(4), 2000, 2000, 300);
    Problem problem = new Problem(records, 1);
    Incumbent few = new Incumbent(problem, PlanWatcher.NONE, -1, 0);
    Incumbent many = new Incumbent(problem, PlanWatcher.NONE, -1, 0);

    new GreedyWorker(problem, few, ONE_THREAD, 0, GreedyWorker.PLAIN_ROUNDS).run();
    new GreedyWorker(problem, many, ONE_THREAD, 0, 40).run();

    assertEquals(Optional.empty(), PlanValidator.fault(records, many.plan().assignment()));
    assertTrue(many.total() < few.total(), many.plan() + " after " + few.plan());
  }
}
