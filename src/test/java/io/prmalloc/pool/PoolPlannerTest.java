package io.prmalloc.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.Allocation;
import io.prmalloc.lifetime.MemoryPlanner.Phase;
import io.prmalloc.lifetime.MemoryPlannerFactory;
import io.prmalloc.lifetime.PlannerSettings;
import org.junit.jupiter.api.Test;

/** A pool and its planner together. */
class PoolPlannerTest extends PoolTests {

  // ---- the planner

  @Test
  void shouldFreeInTheOldPlanWhenTensorsOutliveTheSwitch() {
    TensorPoolAllocator pool = pool();
    Allocation before = pool.allocate(40_000);
    long rawBefore = pool.allocateRaw(64, 40_000);
    before.byteBuffer().putInt(0, 17);
    Pools.learn(pool, 40 * KIB, 40 * KIB);
    Allocation after = pool.allocate(40_000);
    assertCounts(pool, 1, 0, 0, 0, 2);
    assertEquals(17, before.byteBuffer().getInt(0));
    before.close();
    pool.deallocateRaw(rawBefore);
    assertEquals(pool.poolStats().arenaBytes(), source.bytesReserved());
    after.close();
    closeAndCheck(pool);
  }

  @Test
  void shouldRefuseAPlannerWhenItHasAnAllocator() {
    TensorPoolAllocator first = pool();
    assertThrows(
        IllegalStateException.class,
        () -> TensorPoolAllocator.builder().planner(first.planner()).build());
    first.close();
  }

  @Test
  void shouldRefuseTheSharedPlannerWhenASecondAllocatorWantsIt() {
    TensorPoolAllocator first =
        TensorPoolAllocator.builder().planner(MemoryPlannerFactory.shared()).build();
    assertThrows(
        IllegalStateException.class,
        () -> TensorPoolAllocator.builder().planner(MemoryPlannerFactory.shared()).build());
    first.close();
  }

  @Test
  void shouldNeverPoolWhenOptimizationIsOff() {
    TensorPoolAllocator pool =
        TensorPoolAllocator.builder()
            .subAllocator(source)
            .startStatisticStep(0)
            .stableStatisticStep(0)
            .enableMemoryOptimization(false)
            .build();
    for (int i = 0; i < 200; i++) {
      step(
          pool,
          () -> {
            pool.allocate(40_000).close();
          });
    }
    assertEquals(Phase.DISABLED, pool.planner().phase());
    assertCounts(pool, 0, 0, 0, 0, 200);
    closeAndCheck(pool);
  }

  @Test
  void shouldFollowTheBuilderWhenItSetsTheSteps() {
    TensorPoolAllocator pool =
        TensorPoolAllocator.builder()
            .subAllocator(source)
            .executor(Runnable::run)
            .startStatisticStep(2)
            .stableStatisticStep(1)
            .maxStatisticStep(50)
            .stopStatisticStep(60)
            .build();
    for (int step = 0; step < 5; step++) {
      assertFalse(pool.isPooling(), "step " + step);
      step(
          pool,
          () -> {
            pool.allocate(40_000).close();
          });
    }
    // Steps 2, 3 and 4 are packed: one makes the block, two in a row change nothing.
    assertTrue(pool.isPooling());
    assertEquals(3, pool.poolStats().packedSteps());
    closeAndCheck(pool);
  }

  @Test
  void shouldPackBesideTheServerWhenTheExecutorIsTheDefault() throws InterruptedException {
    PlannerSettings settings =
        PlannerSettings.DEFAULTS.withStartStep(0).withStableSteps(1).withMaxSteps(3);
    TensorPoolAllocator pool =
        TensorPoolAllocator.builder()
            .subAllocator(source)
            .planner(
                MemoryPlannerFactory.create(settings, MemoryPlannerFactory.newPlannerExecutor()))
            .build();
    while (!pool.isPooling()) {
      step(
          pool,
          () -> {
            pool.allocate(40_000).close();
          });
      Thread.sleep(1);
    }
    // The last step of the loop may have hit already, if the pool was ready before it asked.
    long before = pool.poolStats().hits();
    pool.allocate(40_000).close();
    assertEquals(before + 1, pool.poolStats().hits());
    closeAndCheck(pool);
  }
}
