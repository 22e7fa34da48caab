package io.prmalloc.contract;

import io.prmalloc.Allocator;
import io.prmalloc.Isolation;
import io.prmalloc.SubAllocator;
import io.prmalloc.lifetime.MemoryPlannerFactory;
import io.prmalloc.lifetime.PlannerSettings;
import io.prmalloc.pool.TensorPoolAllocator;

/**
 * The contract for the pool before it has a plan, with a step open so that every request is
 * tracked.
 */
class WarmingPoolTest extends AllocatorContractTest {

  Isolation isolation() {
    return Isolation.NONE;
  }

  @Override
  Allocator create(SubAllocator source) {
    TensorPoolAllocator pool =
        TensorPoolAllocator.builder()
            .subAllocator(source)
            .isolation(isolation())
            .planner(
                MemoryPlannerFactory.create(
                    PlannerSettings.DEFAULTS.withStartStep(0), Runnable::run))
            .build();
    // Left open: nothing is packed, everything is collected.
    pool.collect();
    return pool;
  }
}
