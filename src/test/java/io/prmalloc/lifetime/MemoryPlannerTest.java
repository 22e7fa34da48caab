package io.prmalloc.lifetime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.internal.lifecycle.PlannerBinding;
import io.prmalloc.lifetime.MemoryPlanner.Phase;
import io.prmalloc.lifetime.MemoryPlanner.Tracked;
import io.prmalloc.pool.Threads;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MemoryPlannerTest {

  private static final int KIB = 1024;

  /** Collects from step 0 on and is only ever done by the number of packed steps. */
  private static final PlannerSettings FROM_THE_START =
      PlannerSettings.DEFAULTS.withStartStep(0).withStableSteps(1000);

  private final List<LifetimePlan> plans = new ArrayList<>();

  private MemoryPlanner planner(PlannerSettings settings) {
    return planner(settings, Runnable::run);
  }

  private MemoryPlanner planner(PlannerSettings settings, Executor executor) {
    MemoryPlanner planner = MemoryPlannerFactory.create(settings, executor);
    PlannerBinding.bind(planner, plans::add, null);
    return planner;
  }

  private static void step(MemoryPlanner planner, long... sizes) {
    try (ScopedMemoryCollector step = planner.collect()) {
      assertNotNull(step);
      for (long size : sizes) {
        live(planner, size);
      }
    }
  }

  private static void live(MemoryPlanner planner, long size) {
    Tracked tracked = planner.trackAllocate(64, size);
    if (tracked != null) {
      planner.trackFree(tracked);
    }
  }

  /** The sizes seen in each step of the plan. */
  private List<List<Long>> sizesByStep() {
    assertEquals(1, plans.size());
    return plans.get(0).steps().stream()
        .map(step -> step.stream().map(AllocStats::sizeBytes).toList())
        .toList();
  }

  private static void onAnotherThread(Runnable work) throws InterruptedException {
    List<Throwable> thrown = new ArrayList<>();
    Thread thread = new Thread(work);
    thread.setUncaughtExceptionHandler((t, e) -> thrown.add(e));
    thread.start();
    thread.join();
    assertEquals(List.of(), thrown);
  }

  @Test
  void shouldBeginToCollectWhenTheStepOfThatNumberOpens() {
    MemoryPlanner planner = planner(FROM_THE_START.withStartStep(3));
    for (int number = 0; number < 3; number++) {
      ScopedMemoryCollector step = planner.collect();
      assertFalse(step.isCollected());
      assertNull(planner.trackAllocate(64, 50 * KIB));
      step.close();
      assertEquals(Phase.WAITING, planner.phase());
    }
    ScopedMemoryCollector fourth = planner.collect();
    assertEquals(Phase.COLLECTING, planner.phase());
    planner.trackFree(planner.trackAllocate(64, 50 * KIB));
    assertEquals(0, planner.packedSteps());
    fourth.close();
    assertEquals(1, planner.packedSteps());
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 10})
  void shouldBeDoneWhenMoreThanSoManyStepsInARowChangeNothing(int stableSteps) {
    MemoryPlanner planner = planner(FROM_THE_START.withStableSteps(stableSteps));
    // The first step makes the block, so it is not stable.
    for (int number = 0; number < stableSteps + 1; number++) {
      step(planner, 50 * KIB);
      assertEquals(Phase.COLLECTING, planner.phase());
      assertEquals(number + 1, planner.packedSteps());
    }
    assertEquals(List.of(), plans);
    step(planner, 50 * KIB);
    assertEquals(Phase.DONE, planner.phase());
    assertEquals(stableSteps + 2, planner.packedSteps());
    assertEquals(1, plans.size());
  }

  @Test
  void shouldCountStableStepsAgainWhenAStepNeedsAnotherBlock() {
    MemoryPlanner planner = planner(FROM_THE_START.withStableSteps(1));
    step(planner, 50 * KIB);
    step(planner, 50 * KIB);
    step(planner, 500 * KIB);
    step(planner, 50 * KIB);
    assertEquals(Phase.COLLECTING, planner.phase());
    step(planner, 500 * KIB);
    assertEquals(Phase.DONE, planner.phase());
    assertEquals(5, planner.packedSteps());
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 7})
  void shouldBeDoneWhenMoreThanSoManyStepsWerePacked(int maxSteps) {
    MemoryPlanner planner = planner(FROM_THE_START.withMaxSteps(maxSteps));
    for (int number = 0; number < maxSteps; number++) {
      step(planner, (number + 1L) * 1000 * KIB);
    }
    assertTrue(planner.phase() != Phase.DONE, "phase " + planner.phase());
    step(planner, 99_999 * KIB);
    assertEquals(Phase.DONE, planner.phase());
    assertEquals(maxSteps + 1, planner.packedSteps());
  }

  @Test
  void shouldBeDoneWhenTheStopStepWasPacked() {
    MemoryPlanner planner = planner(FROM_THE_START.withStartStep(2).withStopStep(5));
    for (int number = 0; number < 5; number++) {
      step(planner, (number + 1L) * 1000 * KIB);
      assertTrue(planner.phase() != Phase.DONE, "step " + number);
    }
    step(planner, 50 * KIB);
    assertEquals(Phase.DONE, planner.phase());
    assertEquals(4, planner.packedSteps());
  }

  @Test
  void shouldNotCountWhenAStepHasNoPlannedAllocation() {
    MemoryPlanner planner = planner(FROM_THE_START.withStableSteps(1).withMaxSteps(3));
    for (int number = 0; number < 50; number++) {
      step(planner);
    }
    assertEquals(0, planner.packedSteps());
    assertEquals(Phase.COLLECTING, planner.phase());
    step(planner, 50 * KIB);
    step(planner);
    step(planner, 50 * KIB);
    step(planner);
    assertEquals(2, planner.packedSteps());
    assertEquals(Phase.COLLECTING, planner.phase());
    step(planner, 50 * KIB);
    assertEquals(Phase.DONE, planner.phase());
    List<Long> counted = List.of(50L * KIB);
    assertEquals(List.of(counted, counted, counted), sizesByStep());
  }

  @Test
  void shouldDoNothingMoreWhenDone() {
    MemoryPlanner planner = planner(FROM_THE_START.withMaxSteps(0));
    ScopedMemoryCollector late = planner.collect();
    Tracked survivor = planner.trackAllocate(64, 70 * KIB);
    step(planner, 50 * KIB);
    assertEquals(Phase.DONE, planner.phase());
    assertFalse(planner.collect().isCollected());
    assertNull(planner.trackAllocate(64, 50 * KIB));
    planner.trackFree(survivor);
    planner.trackFailure(planner.trackAllocate(64, 50 * KIB));
    late.close();
    assertEquals(1, planner.packedSteps());
    assertEquals(List.of(List.of(50L * KIB)), sizesByStep());
  }

  @Test
  void shouldChooseThePolicyOfLeastBytesWhenLivesAreRandom() {
    Set<Integer> winners = new HashSet<>();
    for (long seed = 1; seed <= 60; seed++) {
      plans.clear();
      randomStep(planner(FROM_THE_START.withMaxSteps(0)), new SplittableRandom(seed));
      LifetimePlan plan = plans.get(0);
      long least = Long.MAX_VALUE;
      int winner = 0;
      for (int interval : new int[] {4096, 8192, 16384}) {
        LifetimePolicy policy = new LifetimePolicy(interval);
        plan.steps().get(0).forEach(policy::add);
        policy.bestFit();
        if (policy.totalBytes() < least) {
          least = policy.totalBytes();
          winner = interval;
        }
      }
      assertEquals(least, plan.totalBytes(), "seed " + seed);
      assertEquals(winner, plan.intervalBytes(), "seed " + seed);
      winners.add(winner);
    }
    assertEquals(Set.of(4096, 8192, 16384), winners);
  }

  private static void randomStep(MemoryPlanner planner, SplittableRandom random) {
    try (ScopedMemoryCollector step = planner.collect()) {
      assertNotNull(step);
      List<Tracked> out = new ArrayList<>();
      for (int i = 0; i < 60; i++) {
        out.add(planner.trackAllocate(64, 32 * KIB + 1 + random.nextLong(64 * KIB)));
        if (random.nextInt(10) < 8) {
          planner.trackFree(out.remove(random.nextInt(out.size())));
        }
      }
      out.forEach(planner::trackFree);
    }
  }

  @Test
  void shouldPlanAsIfNeverAskedWhenAnAllocationFailed() {
    MemoryPlanner planner = planner(FROM_THE_START.withMaxSteps(0));
    try (ScopedMemoryCollector step = planner.collect()) {
      assertNotNull(step);
      Tracked before = planner.trackAllocate(64, 50 * KIB);
      Tracked failed = planner.trackAllocate(64, 1L << 30);
      Tracked after = planner.trackAllocate(64, 60 * KIB);
      planner.trackFailure(failed);
      planner.trackFree(after);
      planner.trackFree(before);
    }
    assertEquals(List.of(List.of(60L * KIB, 50L * KIB)), sizesByStep());
    assertTrue(plans.get(0).totalBytes() < 200 * KIB, plans.toString());
  }

  // ---- whose step is it?

  @Test
  void shouldGiveLivesToTheInnermostStepWhenScopesAreNested() {
    MemoryPlanner planner = planner(FROM_THE_START.withMaxSteps(1));
    try (ScopedMemoryCollector outer = planner.collect()) {
      assertNotNull(outer);
      live(planner, 50 * KIB);
      try (ScopedMemoryCollector inner = planner.collect()) {
        assertNotNull(inner);
        live(planner, 60 * KIB);
      }
      live(planner, 70 * KIB);
    }
    assertEquals(List.of(List.of(60L * KIB), List.of(50L * KIB, 70L * KIB)), sizesByStep());
  }

  @Test
  void shouldFallBackToTheNextOpenScopeWhenScopesAreClosedOutOfOrder() {
    MemoryPlanner planner = planner(FROM_THE_START.withMaxSteps(2));
    ScopedMemoryCollector outer = planner.collect();
    ScopedMemoryCollector middle = planner.collect();
    ScopedMemoryCollector inner = planner.collect();
    live(planner, 50 * KIB);
    middle.close(); // Nothing in it.
    live(planner, 60 * KIB);
    inner.close();
    live(planner, 70 * KIB);
    outer.close();
    step(planner, 80 * KIB);
    assertEquals(
        List.of(List.of(50L * KIB, 60L * KIB), List.of(70L * KIB), List.of(80L * KIB)),
        sizesByStep());
  }

  @Test
  void shouldDoNothingWhenAScopeIsClosedTwice() {
    MemoryPlanner planner = planner(FROM_THE_START.withMaxSteps(1));
    ScopedMemoryCollector first = planner.collect();
    live(planner, 50 * KIB);
    first.close();
    ScopedMemoryCollector second = planner.collect();
    live(planner, 60 * KIB);
    first.close();
    assertEquals(1, planner.packedSteps());
    second.close();
    assertEquals(List.of(List.of(50L * KIB), List.of(60L * KIB)), sizesByStep());
  }

  @Test
  void shouldEndTheStepWhenAnotherThreadClosesIt() throws InterruptedException {
    MemoryPlanner planner = planner(FROM_THE_START.withMaxSteps(1));
    ScopedMemoryCollector first = planner.collect();
    live(planner, 50 * KIB);
    onAnotherThread(first::close);
    assertEquals(1, planner.packedSteps());
    step(planner, 60 * KIB);
    assertEquals(List.of(List.of(50L * KIB), List.of(60L * KIB)), sizesByStep());
  }

  @Test
  void shouldKeepStepsApartWhenTheyAreOpenAtOnce() throws Exception {
    MemoryPlanner planner = planner(FROM_THE_START.withMaxSteps(2));
    CountDownLatch bothOpen = new CountDownLatch(2);
    CountDownLatch firstClosed = new CountDownLatch(1);
    Thread other =
        new Thread(
            () -> {
              ScopedMemoryCollector own = planner.collect();
              bothOpen.countDown();
              Threads.await(bothOpen);
              live(planner, 50 * KIB);
              Threads.await(firstClosed);
              live(planner, 51 * KIB);
              own.close();
            });
    other.start();
    ScopedMemoryCollector own = planner.collect();
    bothOpen.countDown();
    bothOpen.await();
    live(planner, 60 * KIB);
    live(planner, 61 * KIB);
    own.close();
    firstClosed.countDown();
    other.join();
    step(planner, 70 * KIB);
    assertEquals(
        List.of(List.of(60L * KIB, 61L * KIB), List.of(50L * KIB, 51L * KIB), List.of(70L * KIB)),
        sizesByStep());
    assertEquals(2, plans.get(0).concurrentSteps());
  }

  @Test
  void shouldKeepTheTensorInItsStepWhenAnotherThreadFreesIt() throws InterruptedException {
    MemoryPlanner planner = planner(FROM_THE_START.withMaxSteps(0));
    try (ScopedMemoryCollector step = planner.collect()) {
      assertNotNull(step);
      Tracked tracked = planner.trackAllocate(64, 50 * KIB);
      onAnotherThread(() -> planner.trackFree(tracked));
    }
    assertEquals(List.of(List.of(50L * KIB)), sizesByStep());
  }

  @Test
  void shouldGiveLivesToTheStepOpenedLastWhenTheirThreadHasNone() throws InterruptedException {
    MemoryPlanner planner = planner(FROM_THE_START.withMaxSteps(1));
    ScopedMemoryCollector first = planner.collect();
    List<ScopedMemoryCollector> second = new ArrayList<>();
    onAnotherThread(() -> second.add(planner.collect()));
    onAnotherThread(() -> live(planner, 50 * KIB));
    live(planner, 60 * KIB);
    first.close();
    second.get(0).close();
    assertEquals(List.of(List.of(60L * KIB), List.of(50L * KIB)), sizesByStep());
  }

  @Test
  void shouldGiveLivesToTheNextStepThatClosesWhenTheyOutliveTheirOwn() {
    MemoryPlanner planner = planner(FROM_THE_START.withMaxSteps(1));
    ScopedMemoryCollector first = planner.collect();
    Tracked survivor = planner.trackAllocate(64, 50 * KIB);
    live(planner, 60 * KIB);
    first.close();
    planner.trackFree(survivor);
    live(planner, 70 * KIB);
    step(planner, 80 * KIB);
    assertEquals(
        List.of(List.of(60L * KIB), List.of(50L * KIB, 70L * KIB, 80L * KIB)), sizesByStep());
    AllocStats life = plans.get(0).steps().get(1).get(0);
    assertEquals(0, life.beginTick());
    assertEquals(3, life.endTick());
  }

  @Test
  void shouldNeedABlockForEachWhenConcurrentStepsOverlap() {
    MemoryPlanner planner = planner(FROM_THE_START.withMaxSteps(1));
    ScopedMemoryCollector first = planner.collect();
    Tracked one = planner.trackAllocate(64, 50 * KIB);
    ScopedMemoryCollector second = planner.collect();
    Tracked two = planner.trackAllocate(64, 50 * KIB);
    planner.trackFree(one);
    first.close();
    planner.trackFree(two);
    second.close();
    assertEquals(2, plans.get(0).bins().get(0).blocks());
  }

  // ---- the executor

  @Test
  void shouldPackWhenTheExecutorRunsAndNotBefore() {
    Queue<Runnable> waiting = new ArrayDeque<>();
    MemoryPlanner planner = planner(FROM_THE_START.withMaxSteps(1), waiting::add);
    step(planner, 50 * KIB);
    step(planner, 60 * KIB);
    assertEquals(0, planner.packedSteps());
    assertEquals(2, waiting.size());
    // All that are ever counted are closed; more are not collected.
    assertFalse(planner.collect().isCollected());
    waiting.remove().run();
    assertEquals(Phase.DONE, planner.phase());
    waiting.remove().run();
    assertEquals(2, planner.packedSteps());
    assertEquals(List.of(List.of(50L * KIB), List.of(60L * KIB)), sizesByStep());
  }

  @Test
  void shouldBeDoneAllTheSameWhenTheExecutorRejectsSometimes() {
    int[] calls = new int[1];
    Executor moody =
        task -> {
          if (calls[0]++ % 3 != 2) {
            throw new RejectedExecutionException("busy");
          }
          task.run();
        };
    MemoryPlanner planner = planner(FROM_THE_START.withMaxSteps(3), moody);
    int steps = 0;
    while (planner.phase() != Phase.DONE && steps < 100) {
      step(planner, (50L + 10L * steps++) * KIB);
    }
    assertEquals(12, steps);
    assertEquals(4, planner.packedSteps());
    assertEquals(
        List.of(List.of(70L * KIB), List.of(100L * KIB), List.of(130L * KIB), List.of(160L * KIB)),
        sizesByStep());
  }

  @Test
  void shouldGoOnAndKeepNothingWhenTheExecutorAlwaysRejects() {
    MemoryPlanner planner =
        planner(
            FROM_THE_START.withMaxSteps(2),
            task -> {
              throw new RejectedExecutionException("shut down");
            });
    for (int number = 0; number < 10; number++) {
      ScopedMemoryCollector step = planner.collect();
      assertTrue(step.isCollected(), "step " + number + " takes a refused one's place");
      live(planner, 50 * KIB);
      step.close();
    }
    assertEquals(0, planner.packedSteps());
    assertEquals(Phase.COLLECTING, planner.phase());
    assertEquals(List.of(), plans);
  }

  // ---- whose planner is it?

  @Test
  void shouldRefuseASecondAllocatorWhenBound() {
    MemoryPlanner planner = planner(FROM_THE_START);
    String message =
        assertThrows(
                IllegalStateException.class, () -> PlannerBinding.bind(planner, plans::add, null))
            .getMessage();
    assertEquals("this planner belongs to an allocator already", message);
  }

  @Test
  void shouldTellTheAllocatorOnceWhenItComesAfterThePlan() {
    MemoryPlanner planner =
        MemoryPlannerFactory.create(FROM_THE_START.withMaxSteps(0), Runnable::run);
    step(planner, 50 * KIB);
    assertEquals(Phase.CHOOSING, planner.phase(), "no plan serves yet");
    PlannerBinding.bind(planner, plans::add, null);
    assertEquals(Phase.DONE, planner.phase());
    assertEquals(List.of(List.of(50L * KIB)), sizesByStep());
  }

  @Test
  void shouldDoNothingWhenThePlannerIsNullable() {
    MemoryPlanner planner = planner(FROM_THE_START.withEnabled(false));
    assertTrue(planner instanceof NullableMemoryPlanner);
    PlannerBinding.bind(planner, plans::add, null);
    for (int number = 0; number < 300; number++) {
      step(planner, 50 * KIB);
    }
    assertNull(planner.trackAllocate(64, 50 * KIB));
    assertEquals(Phase.DISABLED, planner.phase());
    assertEquals(0, planner.packedSteps());
    assertEquals(List.of(), plans);
  }
}
