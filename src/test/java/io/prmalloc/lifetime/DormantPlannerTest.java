package io.prmalloc.lifetime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.internal.lifecycle.PlannerBinding;
import io.prmalloc.lifetime.MemoryPlanner.Tracked;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * A planner whose steps have nothing to plan becomes dormant, and wakes up when there is something.
 */
class DormantPlannerTest {

  private static final long BYTES = 64 * 1024;

  private final MemoryPlanner planner =
      MemoryPlannerFactory.create(PlannerSettings.DEFAULTS.withStartStep(0), Runnable::run);

  private boolean isCollectedNext() {
    try (ScopedMemoryCollector step = planner.collect()) {
      return step.isCollected();
    }
  }

  @Test
  void shouldFallAsleepWhenStepsHaveNothingToPlan() {
    int steps = 0;
    while (isCollectedNext()) {
      steps++;
    }
    assertEquals(256, steps);
    assertEquals(MemoryPlanner.Phase.COLLECTING, planner.phase());
  }

  @Test
  void shouldStayAwakeWhileATensorIsOut() {
    Tracked tracked;
    try (ScopedMemoryCollector step = planner.collect()) {
      assertTrue(step.isCollected());
      tracked = planner.trackAllocate(64, BYTES);
    }
    for (int i = 0; i < 1000; i++) {
      assertTrue(isCollectedNext());
    }
    planner.trackFree(tracked);
  }

  @Test
  void shouldWakeUpAndPlanWhenThereIsSomethingToPlan() {
    List<LifetimePlan> plans = new ArrayList<>();
    PlannerBinding.bind(planner, plans::add, null);
    for (int i = 0; i < 1000; i++) {
      isCollectedNext();
    }
    assertFalse(isCollectedNext());
    int steps = 0;
    while (plans.isEmpty()) {
      assertTrue(steps++ < 20);
      try (ScopedMemoryCollector step = planner.collect()) {
        assertEquals(steps > 1, step.isCollected(), "step " + steps);
        planner.trackFree(planner.trackAllocate(64, BYTES));
      }
    }
    assertEquals(1, plans.get(0).bins().size());
    assertEquals(1, plans.get(0).bins().get(0).blocks());
  }
}
