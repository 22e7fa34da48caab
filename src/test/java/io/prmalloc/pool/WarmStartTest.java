package io.prmalloc.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.Allocation;
import io.prmalloc.OutOfNativeMemoryException;
import io.prmalloc.SubAllocator;
import io.prmalloc.kept.PlanFormatException;
import io.prmalloc.lifetime.MemoryPlanner;
import io.prmalloc.lifetime.ScopedMemoryCollector;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A pool that begins with another one's plan. */
class WarmStartTest {

  private static final int[] SHARED = {100_000, 40_000, 300_000, 40_000, 100_000, 50_000};
  private static final int[] PLANNED = {70_000, 100, 90_000, 100};

  @TempDir private Path directory;

  private Path file() {
    return directory.resolve("plan.json");
  }

  private static TensorPoolBuilder builder() {
    return TensorPoolAllocator.builder().startStatisticStep(0).executor(Runnable::run);
  }

  private static void step(TensorPoolAllocator pool, boolean planned, int... sizes) {
    try (ScopedMemoryCollector step = pool.collect()) {
      Deque<Allocation> live = new ArrayDeque<>();
      for (int size : sizes) {
        live.add(planned ? step.allocate(size) : pool.allocate(size));
        if (live.size() > 2) {
          live.poll().close();
        }
      }
      live.forEach(Allocation::close);
    }
  }

  /** A pool that has both kinds of plan, saved. */
  private void save() throws IOException {
    try (TensorPoolAllocator pool = builder().build()) {
      while (!pool.isPooling()) {
        step(pool, false, SHARED);
      }
      while (pool.stepStats().plans() == 0) {
        step(pool, true, PLANNED);
      }
      assertEquals(0, pool.plan().save(file()));
    }
  }

  @Test
  void shouldServeFromTheFirstStepOnWhenAPlanWasKept() throws IOException {
    save();
    try (TensorPoolAllocator pool = builder().plan(file()).build()) {
      assertTrue(pool.isPooling());
      assertEquals(MemoryPlanner.Phase.DONE, pool.planner().phase());
      for (int i = 0; i < 3; i++) {
        step(pool, false, SHARED);
        step(pool, true, PLANNED);
      }
      PoolStats stats = pool.poolStats();
      assertEquals(3L * SHARED.length, stats.hits());
      assertEquals(0, stats.misses() + stats.nullBins() + stats.unpooledRequests());
      assertEquals(1, stats.hitRate());
      assertEquals(3, pool.stepStats().plannedSteps());
      assertEquals(0, pool.stepStats().departedSteps() + pool.stepStats().unplannedSteps());
      // What was kept can be kept on.
      assertEquals(pool.plan(), io.prmalloc.kept.KeptPlan.load(file()));
    }
  }

  @Test
  void shouldLearnAnewWhenThePlanIsOfOtherSteps() throws IOException {
    save();
    try (TensorPoolAllocator pool = builder().plan(file()).build()) {
      int[] other = {PLANNED[0], 300_000, 100};
      for (int i = 0; i < StepSequence.DEPARTURES + StepSequence.REPEATS + 5; i++) {
        step(pool, true, other);
      }
      assertEquals(1, pool.stepStats().replans());
      assertEquals(5, pool.stepStats().plannedSteps() - StepSequence.DEPARTURES);
      assertEquals(0, pool.stats().bytesInUse());
    }
  }

  @Test
  void shouldRefuseOrStartColdWhenTheFileIsBad() throws IOException {
    save();
    Files.writeString(file(), Files.readString(file()).replace("90000", "90001"));
    assertThrows(PlanFormatException.class, () -> builder().plan(file()));
    try (TensorPoolAllocator pool = builder().planIfUsable(file()).build()) {
      assertFalse(pool.isPooling());
      assertTrue(pool.plan().isEmpty());
    }
    Path missing = directory.resolve("missing");
    assertThrows(UncheckedIOException.class, () -> builder().plan(missing));
    builder().planIfUsable(missing).build().close();
  }

  @Test
  void shouldReadTheFileThatThePropertyNames() throws IOException {
    save();
    System.setProperty("prmalloc.plan", file().toString());
    try {
      try (TensorPoolAllocator pool = builder().build()) {
        assertTrue(pool.isPooling());
      }
      Files.writeString(file(), "{");
      assertThrows(PlanFormatException.class, () -> builder().build());
      System.setProperty("prmalloc.planIfUsable", "true");
      try (TensorPoolAllocator pool = builder().build()) {
        assertFalse(pool.isPooling());
      }
    } finally {
      System.clearProperty("prmalloc.plan");
      System.clearProperty("prmalloc.planIfUsable");
    }
  }

  @Test
  void shouldHoldNothingWhenThereIsNoMemoryForThePlan() throws IOException {
    save();
    SubAllocator source = SubAllocator.direct(400_000);
    assertThrows(
        OutOfNativeMemoryException.class,
        () -> builder().subAllocator(source).plan(file()).build());
    assertEquals(0, source.bytesReserved());
  }

  @Test
  void shouldNotPoolWhenMemoryOptimizationIsOff() throws IOException {
    save();
    try (TensorPoolAllocator pool =
        builder().enableMemoryOptimization(false).plan(file()).build()) {
      assertFalse(pool.isPooling());
    }
  }
}
