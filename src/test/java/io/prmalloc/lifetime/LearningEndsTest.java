package io.prmalloc.lifetime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.internal.lifecycle.PlanListener;
import io.prmalloc.internal.lifecycle.PlannerBinding;
import io.prmalloc.lifetime.MemoryPlanner.Phase;
import io.prmalloc.lifetime.MemoryPlanner.Tracked;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Learning always ends, and begins again if it ended without a plan. */
class LearningEndsTest {

  private static final long BYTES = 50_000;
  private static final PlannerSettings SETTINGS =
      PlannerSettings.DEFAULTS.withStartStep(0).withStableSteps(1);

  private final List<String> reasons = new ArrayList<>();
  private final List<LifetimePlan> plans = new ArrayList<>();
  private long nanos = Long.MAX_VALUE - 5; // It may overflow.
  private Throwable clockFailure;

  /** What the listener throws, or null. */
  private Throwable failure;

  private boolean serves = true;

  private long clock() {
    if (clockFailure != null) {
      Throwable thrown = clockFailure;
      clockFailure = null;
      throw LearningEndsTest.<RuntimeException>unchecked(thrown);
    }
    return nanos;
  }

  @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
  private static <E extends Throwable> E unchecked(Throwable thrown) throws E {
    throw (E) thrown;
  }

  private void pass(long seconds) {
    nanos += TimeUnit.SECONDS.toNanos(seconds);
  }

  private MemoryPlanner planner(PlannerSettings settings, Executor executor) {
    MemoryPlanner planner = new LifetimeMemoryPlanner(settings, executor, this::clock);
    PlannerBinding.bind(
        planner,
        new PlanListener() {
          @Override
          public boolean onPlan(LifetimePlan plan) {
            plans.add(plan);
            if (failure != null) {
              throw LearningEndsTest.<RuntimeException>unchecked(failure);
            }
            return serves;
          }

          @Override
          public void onFailure(String reason) {
            reasons.add(reason);
          }
        },
        null);
    return planner;
  }

  private static void step(MemoryPlanner planner, long bytes) {
    try (ScopedMemoryCollector step = planner.collect()) {
      assertNotNull(step);
      Tracked tracked = planner.trackAllocate(64, bytes);
      if (tracked != null) {
        planner.trackFree(tracked);
      }
    }
  }

  private static int stepsUntil(Phase phase, MemoryPlanner planner) {
    int steps = 0;
    while (planner.phase() != phase) {
      assertTrue(steps++ < 200, "phase " + planner.phase());
      step(planner, BYTES);
    }
    return steps;
  }

  private void assertGaveUp(MemoryPlanner planner, int failures, String reason) {
    assertEquals(Phase.GAVE_UP, planner.phase());
    assertEquals(failures, planner.failures());
    assertEquals(failures, reasons.size());
    assertEquals(Optional.of(reasons.get(failures - 1)), planner.lastFailure());
    assertTrue(reasons.get(failures - 1).contains(reason), reasons.toString());
  }

  static Stream<Throwable> failures() {
    return Stream.of(
        new IllegalStateException("odd"),
        new OutOfMemoryError("heap"),
        new StackOverflowError(),
        new NoClassDefFoundError("gone"),
        new AssertionError("no"),
        new java.io.IOException("checked"));
  }

  @ParameterizedTest
  @MethodSource("failures")
  void shouldLearnAnewWhenTheListenerThrows(Throwable thrown) {
    MemoryPlanner planner = planner(SETTINGS, Runnable::run);
    assertEquals(0, planner.failures());
    assertEquals(Optional.empty(), planner.lastFailure());
    failure = thrown;
    assertEquals(3, stepsUntil(Phase.GAVE_UP, planner));
    assertGaveUp(planner, 1, thrown.toString());
    failure = null;
    pass(1);
    assertEquals(3, stepsUntil(Phase.DONE, planner));
    assertEquals(2, plans.size());
    assertEquals(plans.get(0).bins(), plans.get(1).bins());
    assertEquals(1, planner.failures());
    assertEquals(6, planner.packedSteps());
  }

  @Test
  void shouldNotBeDoneWhenTheAllocatorDoesNotTakeThePlan() {
    serves = false;
    MemoryPlanner planner = planner(SETTINGS, Runnable::run);
    stepsUntil(Phase.GAVE_UP, planner);
    assertGaveUp(planner, 1, "the allocator did not take the plan");
    serves = true;
    pass(1);
    stepsUntil(Phase.DONE, planner);
  }

  @Test
  void shouldWaitTwiceAsLongAfterEachFailure() {
    serves = false;
    MemoryPlanner planner = planner(SETTINGS, Runnable::run);
    stepsUntil(Phase.GAVE_UP, planner);
    for (int failures = 1; failures < 12; failures++) {
      long wait = 1L << Math.min(8, failures - 1);
      pass(wait - 1);
      step(planner, BYTES);
      assertEquals(Phase.GAVE_UP, planner.phase(), "waits for " + wait + " s");
      assertNull(planner.trackAllocate(64, BYTES));
      pass(1);
      step(planner, BYTES);
      assertEquals(Phase.COLLECTING, planner.phase());
      stepsUntil(Phase.GAVE_UP, planner);
      assertEquals(failures + 1, planner.failures());
    }
  }

  @Test
  void shouldLearnAnewWhenPackingFails() {
    MemoryPlanner planner = planner(SETTINGS, Runnable::run);
    step(planner, BYTES);
    step(planner, 100);
    assertGaveUp(planner, 1, "the steps could not be packed");
    pass(1);
    assertEquals(3, stepsUntil(Phase.DONE, planner), "nothing is left of the first attempt");
    assertEquals(1, plans.get(0).bins().size());
  }

  @Test
  void shouldLearnAnewWhenCollectingFails() {
    MemoryPlanner planner = planner(SETTINGS, Runnable::run);
    // The first life.
    try (ScopedMemoryCollector step = planner.collect()) {
      assertTrue(step.isCollected());
      clockFailure = new OutOfMemoryError("heap");
      assertNull(planner.trackAllocate(64, BYTES));
    }
    assertGaveUp(planner, 1, "an allocation could not be collected");
    pass(1);
    // The open of a step.
    step(planner, BYTES);
    clockFailure = new StackOverflowError();
    try (ScopedMemoryCollector step = planner.collect()) {
      assertFalse(step.isCollected());
    }
    assertGaveUp(planner, 2, "a step could not be collected");
    pass(2);
    // The close of a step.
    try (ScopedMemoryCollector step = planner.collect()) {
      assertTrue(step.isCollected());
      planner.trackFree(planner.trackAllocate(64, BYTES));
      clockFailure = new LinkageError();
    }
    assertGaveUp(planner, 3, "a step could not be collected");
    pass(4);
    assertEquals(3, stepsUntil(Phase.DONE, planner));
  }

  @Test
  void shouldChangeNothingWhenLivesAndStepsOfAFailedAttemptEnd() {
    MemoryPlanner planner = planner(SETTINGS, Runnable::run);
    ScopedMemoryCollector old = planner.collect();
    Tracked survivor = planner.trackAllocate(64, 10 * BYTES);
    Tracked failed = planner.trackAllocate(64, 10 * BYTES);
    step(planner, 100);
    assertGaveUp(planner, 1, "packed");
    pass(1);
    ScopedMemoryCollector open = planner.collect();
    Tracked own = planner.trackAllocate(64, BYTES);
    planner.trackFree(survivor);
    planner.trackFailure(failed);
    old.close();
    planner.trackFree(own);
    open.close();
    stepsUntil(Phase.DONE, planner);
    assertEquals(
        List.of(BYTES, BYTES, BYTES),
        plans.get(0).steps().stream().flatMap(List::stream).map(AllocStats::sizeBytes).toList());
    assertEquals(1, plans.get(0).bins().get(0).blocks());
  }

  // ---- time

  @Test
  void shouldTakeWhatWasPackedWhenTimeIsUp() {
    MemoryPlanner planner = planner(SETTINGS.withMaxSeconds(10), Runnable::run);
    step(planner, BYTES);
    step(planner, 2 * BYTES);
    pass(9);
    step(planner, 3 * BYTES);
    assertEquals(Phase.COLLECTING, planner.phase());
    pass(1);
    step(planner, 4 * BYTES);
    assertEquals(Phase.DONE, planner.phase());
    assertEquals(3, plans.get(0).bins().size());
  }

  @Test
  void shouldCountTheTimeFromTheFirstLifeOn() {
    MemoryPlanner planner = planner(SETTINGS.withMaxSeconds(10), Runnable::run);
    for (int i = 0; i < 20; i++) {
      planner.collect().close();
      pass(1);
    }
    assertEquals(Phase.COLLECTING, planner.phase());
    assertEquals(3, stepsUntil(Phase.DONE, planner));
  }

  @Test
  void shouldGiveUpWhenNoStepIsClosed() {
    MemoryPlanner planner = planner(SETTINGS.withMaxSeconds(10), Runnable::run);
    ScopedMemoryCollector endless = planner.collect();
    for (int i = 0; i < 5000; i++) {
      planner.trackFree(planner.trackAllocate(64, BYTES));
    }
    assertEquals(Phase.COLLECTING, planner.phase());
    pass(10);
    int lives = 0;
    for (Tracked next = planner.trackAllocate(64, BYTES);
        next != null;
        next = planner.trackAllocate(64, BYTES)) {
      planner.trackFree(next);
      assertTrue(lives++ < 1024);
    }
    assertGaveUp(planner, 1, "no step that allocated planned memory was closed in 10 s");
    endless.close();
  }

  @Test
  void shouldGiveUpWhenTheExecutorAlwaysRejects() {
    boolean[] open = new boolean[1];
    MemoryPlanner planner =
        planner(
            SETTINGS,
            task -> {
              if (!open[0]) {
                throw new RejectedExecutionException("shut down");
              }
              task.run();
            });
    for (int i = 0; i < 200; i++) {
      step(planner, BYTES);
    }
    assertEquals(Phase.COLLECTING, planner.phase());
    pass(60);
    step(planner, BYTES);
    assertGaveUp(planner, 1, "shut down");
    pass(1);
    open[0] = true;
    assertEquals(3, stepsUntil(Phase.DONE, planner));
  }

  @Test
  void shouldFailNoStepWhenTheExecutorThrowsAnything() {
    int[] calls = new int[1];
    MemoryPlanner planner =
        planner(
            SETTINGS,
            task -> {
              if (calls[0]++ < 5) {
                throw new OutOfMemoryError("unable to create native thread");
              }
              task.run();
            });
    assertEquals(5 + 3, stepsUntil(Phase.DONE, planner));
  }

  @Test
  void shouldGiveUpWhenTheExecutorRunsNothing() {
    Queue<Runnable> never = new ArrayDeque<>();
    MemoryPlanner planner = planner(SETTINGS, never::add);
    for (int i = 0; i < 200; i++) {
      step(planner, BYTES);
    }
    assertEquals(101, never.size(), "so many steps are collected at most");
    pass(60);
    step(planner, BYTES);
    assertEquals(Phase.COLLECTING, planner.phase(), "it may be late");
    pass(60);
    step(planner, BYTES);
    assertGaveUp(planner, 1, "the executor packed nothing in 120 s");
    // What is left of it changes nothing.
    while (!never.isEmpty()) {
      never.remove().run();
    }
    assertEquals(List.of(), plans);
    pass(1);
    for (int i = 0; i < 3; i++) {
      step(planner, BYTES);
    }
    while (!never.isEmpty()) {
      never.remove().run();
    }
    assertEquals(Phase.DONE, planner.phase());
  }

  @Test
  void shouldTellWhenNobodyCanBeToldOfThePlan() {
    Queue<Runnable> waiting = new ArrayDeque<>();
    boolean[] open = {true};
    MemoryPlanner planner =
        new LifetimeMemoryPlanner(
            SETTINGS,
            task -> {
              if (!open[0]) {
                throw new RejectedExecutionException("shut down");
              }
              waiting.add(task);
            },
            this::clock);
    for (int i = 0; i < 3; i++) {
      step(planner, BYTES);
    }
    while (!waiting.isEmpty()) {
      waiting.remove().run();
    }
    assertEquals(Phase.CHOOSING, planner.phase(), "no plan serves yet");
    open[0] = false;
    PlannerBinding.bind(planner, plans::add, null);
    assertEquals(Phase.GAVE_UP, planner.phase());
    assertTrue(planner.lastFailure().orElseThrow().contains("shut down"));
  }

  // ---- memory

  @Test
  void shouldCollectNoStepWhileAMillionLivesWait() {
    Queue<Runnable> waiting = new ArrayDeque<>();
    MemoryPlanner planner = planner(SETTINGS.withMaxSteps(1), waiting::add);
    ScopedMemoryCollector large = planner.collect();
    for (int i = 0; i < (1 << 20) + 10; i++) {
      planner.trackFree(planner.trackAllocate(64, BYTES));
    }
    large.close();
    try (ScopedMemoryCollector next = planner.collect()) {
      assertFalse(next.isCollected());
    }
    waiting.remove().run();
    step(planner, BYTES);
    waiting.remove().run();
    assertEquals(Phase.DONE, planner.phase());
    // Of what the pool rehearses the large step is no part: it is more than that may be.
    assertEquals(List.of(1), plans.get(0).steps().stream().map(List::size).toList());
  }
}
