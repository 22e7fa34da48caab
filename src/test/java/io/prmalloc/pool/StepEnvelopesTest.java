package io.prmalloc.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.Allocation;
import io.prmalloc.internal.steps.KeyedSteps;
import io.prmalloc.internal.steps.StepSequence;
import io.prmalloc.kept.KeptPlan;
import io.prmalloc.kept.KeptStep;
import io.prmalloc.lifetime.ScopedMemoryCollector;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Steps that make the same requests in the same order, with other sizes each time. */
class StepEnvelopesTest extends PlannedStepsPool {

  /** Each tensor lives until the next but one is there. */
  private void step(Object key, long... sizes) {
    try (ScopedMemoryCollector step = pool.collect(key)) {
      List<Allocation> live = new ArrayList<>();
      for (long size : sizes) {
        live.add(step.allocate(size));
        if (live.size() == 3) {
          live.remove(0).close();
        }
      }
      live.forEach(Allocation::close);
    }
  }

  private static final long[] MODEL = {100_000, 400_000, 50_000, 300_000, 7, 200_000, 100_000};

  /** Large where the other is small: together they have more load than either. */
  private static final long[] OTHER_MODEL = new long[40];

  static {
    Arrays.setAll(OTHER_MODEL, i -> i % 7 == 4 ? 2_000_000 : 1_000);
  }

  private static long[] times(double factor, long... sizes) {
    return Arrays.stream(sizes).map(size -> Math.max(1, (long) (size * factor))).toArray();
  }

  @Test
  void shouldServeEverySizeUpToTheLargestFromOnePlan() {
    step(null, MODEL);
    Random random = new Random(1);
    for (int i = 1; i < KeyedSteps.REPEATS + 200; i++) {
      step(null, times(0.01 + 0.99 * random.nextDouble(), MODEL));
    }
    StepStats stats = pool.stepStats();
    assertEquals(200, stats.plannedSteps());
    assertEquals(0, stats.departedSteps() + stats.replans());
    assertEquals(1, stats.plans());
    assertEquals(1, stats.arenas());
  }

  @Test
  void shouldRaiseAPlanSeldomWhenSizesGrow() {
    double factor = 1;
    for (int i = 0; i < 400; i++, factor *= 1.0075) {
      step(null, times(factor, MODEL));
    }
    StepStats stats = pool.stepStats();
    // By an eighth at least each time, from 1 to the last factor.
    int raises = (int) (Math.log(factor) / Math.log(StepSequence.GROWTH)) + 2;
    assertTrue(stats.raisedPlans() > 5 && stats.raisedPlans() <= raises, stats.toString());
    assertEquals(stats.raisedPlans(), stats.departedSteps());
    assertEquals(1, stats.plans());
  }

  @Test
  void shouldHaveThePlanOfTheLargestWhenItsSizesComeAgain() {
    for (int i = 0; i < 5; i++) {
      step(null, MODEL);
    }
    long exact = pool.stepStats().arenaBytes();
    for (int i = 0; i < 5; i++) {
      step(null, times(4, MODEL));
    }
    // One change of all sizes is no sign that they vary.
    assertEquals(1, pool.stepStats().raisedPlans());
    assertTrue(pool.stepStats().arenaBytes() <= 4 * exact, pool.stepStats().toString());
  }

  @Test
  void shouldPlanTwoModelsThatTakeTurnsEachOnItsOwn() {
    for (int i = 0; i < 2 * KeyedSteps.REPEATS; i++) {
      step(null, i % 2 == 0 ? MODEL : OTHER_MODEL);
    }
    assertEquals(2, pool.stepStats().plans());
    for (int i = 0; i < 50; i++) {
      step(null, MODEL);
      step(null, OTHER_MODEL);
    }
    assertEquals(100, pool.stepStats().plannedSteps());
    // Which of the two it is, is not known until the first request of each was seen once.
    assertTrue(pool.stepStats().departedSteps() <= 2, pool.stepStats().toString());
    assertEquals(0, pool.stepStats().replans());
  }

  @Test
  void shouldLearnAModelThatComesLater() {
    for (int i = 0; i < 10; i++) {
      step(null, MODEL);
    }
    for (int i = 0; i < 40; i++) {
      step(null, MODEL);
      step(null, OTHER_MODEL);
    }
    assertEquals(2, pool.stepStats().plans());
    long departed = pool.stepStats().departedSteps();
    for (int i = 0; i < 40; i++) {
      step(null, MODEL);
      step(null, OTHER_MODEL);
    }
    assertEquals(departed, pool.stepStats().departedSteps());
  }

  @Test
  void shouldPlanTheRestWhenStepsGetLonger() {
    for (int i = 0; i < KeyedSteps.REPEATS; i++) {
      step(null, Arrays.copyOf(MODEL, 4));
    }
    step(null, MODEL);
    assertEquals(3, pool.stepStats().departedRequests());
    assertEquals(1, pool.stepStats().raisedPlans());
    step(null, MODEL);
    step(null, Arrays.copyOf(MODEL, 4));
    assertEquals(3, pool.stepStats().plannedSteps());
    assertEquals(1, pool.stepStats().departedSteps());
  }

  @Test
  void shouldServeTheOthersWhenOneRequestDeparts() {
    for (int i = 0; i < KeyedSteps.REPEATS; i++) {
      step(null, MODEL);
    }
    long[] odd = MODEL.clone();
    odd[2] = 60_000;
    step(null, odd);
    assertEquals(1, pool.stepStats().departedRequests());
  }

  @Test
  void shouldPlanForLaterReleasesWhenTheyComeOften() {
    for (int i = 0; i < KeyedSteps.REPEATS; i++) {
      step(null, MODEL);
    }
    // What is late is seen where its bytes are wanted, so it may take a second plan.
    lateSteps(2 * KeyedSteps.DEPARTURES);
    long departed = pool.stepStats().departedSteps();
    assertTrue(pool.stepStats().replans() > 0, pool.stepStats().toString());
    lateSteps(20);
    assertEquals(departed, pool.stepStats().departedSteps());
  }

  /** All tensors live to the end. */
  private void lateSteps(int count) {
    for (int i = 0; i < count; i++) {
      try (ScopedMemoryCollector step = pool.collect()) {
        List<Allocation> all = new ArrayList<>();
        for (long size : MODEL) {
          all.add(step.allocate(size));
        }
        all.forEach(Allocation::close);
      }
    }
  }

  @Test
  void shouldLowerThePlanWhenLargeStepsStayAway() {
    pool.close();
    pool = builder().stepArenaIdle(Duration.ofMillis(40)).build();
    for (int i = 0; i < KeyedSteps.REPEATS; i++) {
      step(null, MODEL);
    }
    long large = pool.stepStats().arenaBytes();
    Random random = new Random(2);
    while (pool.stepStats().loweredPlans() == 0) {
      step(null, times(0.25 + 0.25 * random.nextDouble(), MODEL));
    }
    assertTrue(pool.stepStats().arenaBytes() < 0.6 * large, pool.stepStats().toString());
    assertEquals(0, pool.stepStats().departedSteps());
    long planned = pool.stepStats().plannedSteps();
    step(null, MODEL);
    assertEquals(1, pool.stepStats().departedSteps());
    assertEquals(1, pool.stepStats().raisedPlans());
    step(null, MODEL);
    assertEquals(1, pool.stepStats().departedSteps());
    assertEquals(planned + 2, pool.stepStats().plannedSteps());
  }

  @Test
  void shouldSayTheLargestSizeAlsoAfterALook() {
    pool.close();
    pool = builder().stepArenaIdle(Duration.ofMillis(1)).build();
    for (int i = 0; i < KeyedSteps.REPEATS + 1; i++) {
      step(null, MODEL);
    }
    pool.clearStats();
    step(null, MODEL);
    while (pool.stepStats().loweredPlans() == 0) {
      step(null, times(0.25, MODEL));
    }
    assertEquals(400_000, pool.stats().largestAllocSize());
  }

  @Test
  void shouldKeepPlansOfEveryStructure() {
    for (int i = 0; i < 2 * KeyedSteps.REPEATS; i++) {
      step(null, i % 2 == 0 ? MODEL : OTHER_MODEL);
    }
    KeptPlan kept = pool.plan();
    assertEquals(2, kept.steps().size());
    pool.close();
    pool = builder().plan(kept).build();
    assertEquals(kept, pool.plan());
    for (double factor = 1; factor > 0.1; factor -= 0.1) {
      step(null, times(factor, MODEL));
    }
    step(null, OTHER_MODEL);
    assertEquals(2, pool.stepStats().plans());
    assertEquals(0, pool.stepStats().unplannedSteps());
  }

  @Test
  void shouldAdoptOnePlanOfThoseThatOneServes() {
    // As a version before this one kept them: a plan for each size.
    List<KeptStep> steps = new ArrayList<>();
    for (long bytes : new long[] {64, 128, 256}) {
      steps.add(
          new KeptStep(
              null, false, new long[] {bytes, bytes}, new int[] {2, 2}, new long[] {0, bytes}));
    }
    pool.close();
    pool = builder().plan(new KeptPlan(Optional.empty(), steps)).build();
    assertEquals(1, pool.stepStats().plans());
    assertEquals(512, pool.stepStats().arenaBytes());
    step(null, 128, 128);
    step(null, 64, 64);
    assertEquals(2, pool.stepStats().plannedSteps());
    assertEquals(0, pool.stepStats().departedSteps());
  }
}
