package io.prmalloc.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.prmalloc.Allocation;
import io.prmalloc.SubAllocator;
import io.prmalloc.lifetime.ScopedMemoryCollector;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.Executor;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** When planned steps have arenas, and when they give them back. */
class PlannedStepsArenasTest {

  private static final int BYTES = 64 * 1024;

  /** Of two tensors that are there together. */
  private static final int ARENA_BYTES = 2 * BYTES;

  private final SubAllocator source = SubAllocator.direct();
  private TensorPoolAllocator pool;

  private void open(Executor executor) {
    pool =
        TensorPoolAllocator.builder()
            .subAllocator(source)
            .executor(executor)
            .stepPlanningTime(Duration.ZERO)
            .build();
  }

  @AfterEach
  void nothingIsLeft() {
    pool.close();
    assertEquals(0, source.bytesReserved());
  }

  private void steps(int count) {
    for (int i = 0; i < count; i++) {
      try (ScopedMemoryCollector step = pool.collect();
          Allocation first = step.allocate(BYTES);
          Allocation second = step.allocate(BYTES)) {
        first.byteBuffer().put(0, (byte) 1);
        second.byteBuffer().put(0, (byte) 2);
      }
    }
  }

  @Test
  void shouldGiveIdleArenasBack() {
    open(Runnable::run);
    steps(KeyedSteps.REPEATS + 1);
    assertEquals(0, pool.trimSteps(Duration.ofDays(1)));
    assertEquals(ARENA_BYTES, pool.stepStats().arenaBytes());
    pool.trimHeap();
    assertEquals(ARENA_BYTES, source.bytesReserved());
    assertEquals(ARENA_BYTES, pool.trimSteps(Duration.ZERO));
    assertEquals(0, source.bytesReserved());
    assertEquals(1, pool.stepStats().plans());
    assertEquals(1, pool.stepStats().plannedSteps());
    steps(1);
    assertEquals(2, pool.stepStats().plannedSteps(), "one is made, and at once");
  }

  @Test
  void shouldNotWaitForAnArena() {
    Queue<Runnable> tasks = new ArrayDeque<>();
    open(tasks::add);
    steps(KeyedSteps.REPEATS);
    tasks.remove().run();
    assertEquals(ARENA_BYTES, pool.trimSteps(Duration.ZERO));
    steps(1);
    assertEquals(0, pool.stepStats().plannedSteps());
    assertEquals(1, tasks.size());
    steps(1);
    assertEquals(1, tasks.size(), "one is on the way");
    tasks.remove().run();
    steps(1);
    assertEquals(1, pool.stepStats().plannedSteps());
    assertEquals(0, tasks.size());
  }
}
