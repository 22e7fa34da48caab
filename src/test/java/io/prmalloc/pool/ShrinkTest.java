package io.prmalloc.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.Allocation;
import io.prmalloc.SubAllocator;
import io.prmalloc.internal.lifecycle.Maintenance;
import io.prmalloc.lifetime.ScopedMemoryCollector;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A pool that has more memory than its traffic needs gives it back. */
@SuppressWarnings("try") // a step is a bracket: what is asked of the pool meanwhile belongs to it
class ShrinkTest {

  private static final int[] MODEL_A = {400_000, 160_000, 1_200_000, 160_000, 400_000};

  /** Every request finds a block under the plan of the other, but most blocks are of no use. */
  private static final int[] PART_OF_A = {160_000, 160_000, 400_000};

  /** Every request finds a block, all of them are used, and none of them is full. */
  private static final int[] SMALLER_THAN_A = {300_000, 110_000, 800_000, 110_000, 300_000};

  /** No plan of the above has a block for it. */
  private static final int LARGE_BYTES = 3_000_000;

  private final SubAllocator source = SubAllocator.direct();
  private final List<Maintenance.Target> targets = new ArrayList<>();
  private final TensorPoolAllocator pool = newPool(source);

  private TensorPoolAllocator newPool(SubAllocator memory) {
    return TensorPoolAllocator.builder()
        .subAllocator(memory)
        .startStatisticStep(0)
        .executor(Runnable::run)
        .maintenance(
            (target, period) -> {
              targets.add(target);
              return () -> {};
            })
        .build();
  }

  @AfterEach
  void nothingIsLeft() {
    pool.close();
    assertEquals(0, source.bytesReserved());
  }

  private static void step(TensorPoolAllocator pool, int... sizes) {
    try (ScopedMemoryCollector step = pool.collect()) {
      Deque<Allocation> live = new ArrayDeque<>();
      for (int size : sizes) {
        live.add(pool.allocate(size));
        if (live.size() > 2) {
          live.poll().close();
        }
      }
      live.forEach(Allocation::close);
    }
  }

  /** Steps for as long as so many idle times; looks are between steps and within them. */
  private void run(int idleTimes, int... sizes) {
    for (int look = 0; look < idleTimes * OverProvisionMonitor.LOOKS; look++) {
      for (int i = 0; i < 20; i++) {
        step(pool, sizes);
      }
      try (Allocation first = pool.allocate(sizes[0]);
          Allocation second = pool.allocate(sizes[1]);
          Allocation third = pool.allocate(sizes[2])) {
        assertEquals(
            sizes[0] + sizes[1] + sizes[2],
            first.sizeBytes() + second.sizeBytes() + third.sizeBytes());
        targets.forEach(Maintenance.Target::look);
      }
    }
  }

  private static long arenaBytesAlone(int... sizes) {
    try (TensorPoolAllocator fresh =
        TensorPoolAllocator.builder().startStatisticStep(0).executor(Runnable::run).build()) {
      while (!fresh.isPooling()) {
        step(fresh, sizes);
      }
      return fresh.poolStats().arenaBytes();
    }
  }

  private void warmUp(int... sizes) {
    while (!pool.isPooling()) {
      step(pool, sizes);
    }
  }

  private void assertShrinksTo(int... sizes) {
    warmUp(MODEL_A);
    run(3, MODEL_A);
    assertEquals(0, pool.poolStats().replans());
    long unserved = pool.poolStats().misses() + pool.poolStats().nullBins();
    run(3, sizes);
    assertEquals(1, pool.poolStats().replans());
    assertTrue(pool.poolStats().arenaBytes() <= 1.1 * arenaBytesAlone(sizes));
    assertEquals(unserved, pool.poolStats().misses() + pool.poolStats().nullBins());
    assertEquals(pool.poolStats().arenaBytes(), source.bytesReserved(), "the old arena is gone");
  }

  @Test
  void shouldShrinkWhenBlocksAreNotUsed() {
    assertShrinksTo(PART_OF_A);
  }

  @Test
  void shouldShrinkWhenBlocksAreTooLarge() {
    assertShrinksTo(SMALLER_THAN_A);
  }

  /** Eighty small tensors one after the other, and a large one at the end of some steps. */
  private void runWithLarge(int idleTimes, int everySteps) {
    int[] small = new int[80];
    Arrays.fill(small, 160_000);
    int[] large = Arrays.copyOf(small, 81);
    large[80] = LARGE_BYTES;
    for (int i = 0; i < idleTimes * OverProvisionMonitor.LOOKS; i++) {
      for (int step = 0; step < 20; step++) {
        step(pool, step % everySteps == 0 ? large : small);
      }
      targets.forEach(Maintenance.Target::look);
    }
  }

  @Test
  void shouldPlanAnewWhenTheHeapHoldsMuchForFewRequests() {
    warmUp(MODEL_A);
    runWithLarge(4, 1);
    assertTrue(pool.poolStats().replans() >= 1, "plans: " + pool.poolStats().replans());
    long unserved = pool.poolStats().misses() + pool.poolStats().nullBins();
    runWithLarge(2, 1);
    assertEquals(unserved, pool.poolStats().misses() + pool.poolStats().nullBins());
    assertEquals(
        pool.poolStats().arenaBytes(), source.bytesReserved(), "nothing is beside the plan");
    assertTrue(source.bytesReserved() < 1.5 * LARGE_BYTES, source.bytesReserved() + " reserved");
  }

  @Test
  void shouldWaitLongerEachTimeWhenTheNewPlanLeavesAsMuchIdle() {
    warmUp(MODEL_A);
    runWithLarge(60, 20);
    int replans = pool.poolStats().replans();
    assertTrue(replans <= 6, replans + " plans in sixty idle times");
  }

  /** Its class loader would stay with it. */
  @Test
  void shouldForgetThreadsThatEnded() throws InterruptedException {
    warmUp(MODEL_A);
    Thread[] threads = new Thread[3];
    List<WeakReference<Thread>> ended = new ArrayList<>();
    for (int i = 0; i < threads.length; i++) {
      threads[i] = new Thread(this::manyPairs);
      ended.add(new WeakReference<>(threads[i]));
      threads[i].start();
      threads[i].join();
      threads[i] = null;
    }
    targets.forEach(Maintenance.Target::look);
    for (WeakReference<Thread> thread : ended) {
      for (int i = 0; i < 50 && !thread.refersTo(null); i++) {
        System.gc();
        Thread.sleep(10);
      }
      assertTrue(thread.refersTo(null), "a thread that ended is still referred to");
    }
  }

  private void manyPairs() {
    for (int i = 0; i < 5_000; i++) {
      pool.allocate(MODEL_A[0]).close();
      pool.allocate(100).close();
    }
  }

  @Test
  void shouldKeepThePlanWhenNobodyUsesThePool() {
    warmUp(MODEL_A);
    for (int look = 0; look < 100; look++) {
      targets.forEach(Maintenance.Target::look);
    }
    step(pool, PART_OF_A);
    for (int i = 0; i < 50; i++) {
      step(pool, MODEL_A);
    }
    assertEquals(0, pool.poolStats().replans());
    assertEquals(1, pool.poolStats().hitRate());
  }

  @Test
  void shouldWaitLongerEachTimeWhenDemandComesBack() {
    warmUp(MODEL_A);
    // A lull of five idle times, then enough traffic that the plan grows again.
    int cycles = 20;
    for (int i = 0; i < cycles; i++) {
      run(5, PART_OF_A);
      for (int j = 0; j < 1100; j++) {
        step(pool, MODEL_A);
      }
    }
    int replans = pool.poolStats().replans();
    assertTrue(replans >= 2, "it did shrink and grow");
    assertTrue(replans <= 2 * cycles / 3, replans + " plans in " + cycles + " lulls");
  }

  @Test
  void shouldLookAfterItselfWhenNobodyElseDoes() throws InterruptedException {
    SubAllocator memory = SubAllocator.direct();
    try (TensorPoolAllocator own =
        TensorPoolAllocator.builder()
            .subAllocator(memory)
            .startStatisticStep(0)
            .shrinkAfter(Duration.ofMillis(20))
            .build()) {
      while (!own.isPooling()) {
        step(own, MODEL_A);
      }
      while (own.poolStats().replans() == 0) {
        step(own, PART_OF_A);
      }
    }
    assertEquals(0, memory.bytesReserved());
  }

  @Test
  void shouldReleaseStepArenasWhenAnotherKindOfStepsHasCome() {
    try (TensorPoolAllocator own =
        TensorPoolAllocator.builder()
            .subAllocator(source)
            .stepArenaIdle(Duration.ofMillis(20))
            .executor(Runnable::run)
            .build()) {
      while (own.stepStats().arenas() < 1) {
        plannedStep(own, MODEL_A);
      }
      while (own.stepStats().arenas() > 0) {
        Thread.onSpinWait();
      }
      assertEquals(1, own.stepStats().plans(), "what was learnt is kept");
      plannedStep(own, MODEL_A);
      assertEquals(1, own.stepStats().arenas());
    }
  }

  @Test
  void shouldGiveSlabsBackWhenNobodyUsedThem() {
    pool.allocate(100).close();
    Allocation out = pool.allocate(10_000);
    long both = source.bytesReserved();
    for (int look = 0; look < OverProvisionMonitor.LOOKS; look++) {
      targets.forEach(Maintenance.Target::look);
    }
    pool.allocate(100).close();
    targets.forEach(Maintenance.Target::look);
    assertEquals(both, source.bytesReserved(), "used again");
    for (int look = 0; look < OverProvisionMonitor.LOOKS; look++) {
      targets.forEach(Maintenance.Target::look);
    }
    long one = source.bytesReserved();
    assertTrue(one > 0 && one < both, "the other has something out");
    out.close();
    for (int look = 0; look <= OverProvisionMonitor.LOOKS; look++) {
      targets.forEach(Maintenance.Target::look);
    }
    assertEquals(0, source.bytesReserved());
    pool.allocate(100).close();
  }

  private static void plannedStep(TensorPoolAllocator pool, int... sizes) {
    try (ScopedMemoryCollector step = pool.collect()) {
      for (int size : sizes) {
        step.allocate(size).close();
      }
    }
  }
}
