package io.prmalloc.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.Allocation;
import io.prmalloc.MemoryRegion;
import io.prmalloc.OutOfNativeMemoryException;
import io.prmalloc.SubAllocator;
import io.prmalloc.internal.poolplan.PlanChoice;
import io.prmalloc.lifetime.AllocStats;
import io.prmalloc.lifetime.LifetimePlan;
import io.prmalloc.lifetime.MemoryPlanner.Phase;
import io.prmalloc.lifetime.MemoryPlanner.Tracked;
import io.prmalloc.lifetime.MemoryPlannerFactory;
import io.prmalloc.lifetime.PlannerSettings;
import io.prmalloc.lifetime.ScopedMemoryCollector;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.Executor;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A pool whose learning fails in some stage serves, and learns again. */
@SuppressWarnings("try") // a step is a bracket: what is asked of the pool meanwhile belongs to it
class LearningRecoversTest {

  private static final int BYTES = 40_000;

  private final SubAllocator memory = SubAllocator.direct();

  /** What is thrown instead of giving the region of an arena, once, or null. */
  private Error allocFailure;

  private RuntimeException refusal;

  /** What is thrown when somebody asks how much is reserved while a plan serves, once, or null. */
  private Error reservedFailure;

  private Error executeFailure;
  private TensorPoolAllocator pool;

  private final class FailingSource implements SubAllocator {
    @Override
    public MemoryRegion alloc(long alignment, long bytes) {
      if (bytes >= 2 * BYTES && allocFailure != null) {
        Error thrown = allocFailure;
        allocFailure = null;
        throw thrown;
      }
      if (bytes >= 2 * BYTES && refusal != null) {
        throw refusal;
      }
      return memory.alloc(alignment, bytes);
    }

    @Override
    public void free(MemoryRegion region) {
      memory.free(region);
    }

    @Override
    public long bytesReserved() {
      if (reservedFailure != null && pool != null && pool.isPooling()) {
        Error thrown = reservedFailure;
        reservedFailure = null;
        throw thrown;
      }
      return memory.bytesReserved();
    }

    @Override
    public OptionalLong bytesLimit() {
      return memory.bytesLimit();
    }
  }

  private TensorPoolAllocator pool(PlanSwitchOver.Chooser chooser) {
    PlannerSettings settings =
        PlannerSettings.DEFAULTS.withStartStep(0).withStableSteps(1).withRetrySeconds(0);
    Executor executor =
        task -> {
          if (executeFailure != null) {
            Error thrown = executeFailure;
            executeFailure = null;
            throw thrown;
          }
          task.run();
        };
    pool =
        TensorPoolAllocator.builder()
            .subAllocator(new FailingSource())
            .executor(executor)
            .planner(MemoryPlannerFactory.create(settings, executor))
            .chooser(chooser)
            .build();
    return pool;
  }

  @AfterEach
  void nothingIsLeft() {
    assertTrue(pool.isPooling());
    step();
    long hits = pool.poolStats().hits();
    step();
    assertEquals(hits + 3, pool.poolStats().hits());
    pool.close();
    assertEquals(0, memory.bytesReserved());
  }

  private void step() {
    try (ScopedMemoryCollector step = pool.collect()) {
      List<Allocation> out = Pools.take(pool, BYTES, BYTES, BYTES);
      out.forEach(Allocation::close);
    }
  }

  private void stepsUntilDone() {
    int steps = 0;
    while (pool.planner().phase() != Phase.DONE) {
      assertTrue(steps++ < 20, "phase " + pool.planner().phase());
      step();
    }
  }

  private void assertGaveUpOnceAndRecovers(String reason) {
    assertEquals(Phase.GAVE_UP, pool.planner().phase());
    PoolSnapshot now = pool.snapshot();
    assertEquals(Phase.GAVE_UP, now.phase());
    assertEquals(1, now.learningFailures());
    assertTrue(now.lastLearningFailure().orElseThrow().contains(reason), now.toString());
    assertTrue(pool.dumpStats().contains("learning failed 1 times"), pool.dumpStats());
    stepsUntilDone();
    assertEquals(1, pool.snapshot().learningFailures());
  }

  @Test
  void shouldRecoverWhenCollectingFails() {
    pool(PlanChoice::best);
    for (int i = 0; i < 3; i++) {
      executeFailure = new OutOfMemoryError("unable to create native thread");
      step();
      assertEquals(Phase.COLLECTING, pool.planner().phase());
    }
    stepsUntilDone();
    assertEquals(3, pool.planner().packedSteps());
  }

  @Test
  void shouldRecoverWhenPackingFails() {
    pool(PlanChoice::best);
    try (ScopedMemoryCollector step = pool.collect()) {
      // Nothing so small is to be planned.
      Tracked small = pool.planner().trackAllocate(64, 100);
      pool.planner().trackFree(small);
    }
    assertGaveUpOnceAndRecovers("packed");
  }

  @Test
  void shouldChooseWithoutASearchWhenOneFailed() {
    PoolPolicies[] asked = new PoolPolicies[1];
    pool(
        (made, policies, maxOversize) -> {
          asked[0] = policies;
          if (policies == PoolPolicies.ALL) {
            throw new NoClassDefFoundError("a search");
          }
          return PlanChoice.best(made, policies, maxOversize);
        });
    for (int i = 0; i < 3; i++) {
      step();
    }
    assertEquals(PoolPolicies.ALL, asked[0]);
    assertGaveUpOnceAndRecovers("a search");
    assertEquals(PoolPolicies.REFERENCE, asked[0]);
  }

  @Test
  void shouldRecoverWhenTheRehearsalFails() {
    boolean[] failed = new boolean[1];
    pool(
        (made, policies, maxOversize) -> {
          if (!failed[0]) {
            failed[0] = true;
            // A plan with no bin for what is asked.
            List<List<AllocStats>> steps = List.of(List.of(new AllocStats(0, 1, 1 << 20, 64)));
            return PlanChoice.best(
                new LifetimePlan(4096, 0, made.bins(), steps, 1), policies, maxOversize);
          }
          return PlanChoice.best(made, policies, maxOversize);
        });
    for (int i = 0; i < 3; i++) {
      step();
    }
    assertGaveUpOnceAndRecovers("Exception");
  }

  @Test
  void shouldRecoverWhenTheArenaCannotBeReserved() {
    pool(PlanChoice::best);
    // Now the heap has its region, and the next to ask is the arena.
    step();
    allocFailure = new OutOfMemoryError("heap");
    for (int i = 0; i < 2; i++) {
      step();
    }
    assertGaveUpOnceAndRecovers("heap");
  }

  @Test
  void shouldServeFromThePlanAsItsMemoryComesWhenThereIsNoneAtFirst() {
    pool(PlanChoice::best);
    step();
    refusal = new OutOfNativeMemoryException(3 * BYTES, 0, -1, null);
    for (int i = 0; i < 12; i++) {
      step();
      assertEquals(0, pool.poolStats().arenaBytes());
      assertEquals(0, pool.poolStats().hits());
    }
    assertEquals(Phase.DONE, pool.planner().phase(), "a plan is in force, and has no memory yet");
    assertEquals(0, pool.snapshot().learningFailures());
    refusal = null;
    step();
    assertEquals(pool.poolStats().planBytes(), pool.poolStats().arenaBytes());
  }

  @Test
  void shouldRecoverWhenPublishingFails() {
    pool(PlanChoice::best);
    reservedFailure = new StackOverflowError();
    for (int i = 0; i < 3; i++) {
      step();
    }
    assertTrue(pool.isPooling(), "the plan was there already");
    assertEquals(1, pool.snapshot().learningFailures());
  }

  @Test
  void shouldReplanAgainWhenANewPlanFailed() {
    Error[] failure = new Error[1];
    pool(
        (made, policies, maxOversize) -> {
          if (failure[0] != null) {
            throw failure[0];
          }
          return PlanChoice.best(made, policies, maxOversize);
        });
    stepsUntilDone();
    failure[0] = new OutOfMemoryError("heap");
    assertTrue(pool.replan());
    for (int i = 0; i < 20; i++) {
      step();
    }
    assertEquals(1, pool.snapshot().learningFailures());
    assertTrue(pool.snapshot().lastLearningFailure().orElseThrow().contains("heap"));
    assertEquals(Phase.DONE, pool.planner().phase(), "the old plan serves");
    assertEquals(0, pool.poolStats().replans());
    failure[0] = null;
    assertTrue(pool.replan());
    for (int i = 0; i < 20; i++) {
      step();
    }
    assertEquals(1, pool.poolStats().replans());
  }
}
