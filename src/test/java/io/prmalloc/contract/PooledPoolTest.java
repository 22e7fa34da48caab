package io.prmalloc.contract;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.Allocator;
import io.prmalloc.Isolation;
import io.prmalloc.SubAllocator;
import io.prmalloc.lifetime.MemoryPlanner;
import io.prmalloc.lifetime.MemoryPlanner.Tracked;
import io.prmalloc.lifetime.MemoryPlannerFactory;
import io.prmalloc.lifetime.PlannerSettings;
import io.prmalloc.lifetime.ScopedMemoryCollector;
import io.prmalloc.pool.TensorPoolAllocator;
import java.util.ArrayList;
import java.util.List;

/** The contract for the pool when it serves from its plan. */
public class PooledPoolTest extends AllocatorContractTest {

  Isolation isolation() {
    return Isolation.NONE;
  }

  @Override
  public Allocator create(SubAllocator source) {
    PlannerSettings settings = PlannerSettings.DEFAULTS.withStartStep(0).withMaxSteps(0);
    MemoryPlanner planner = MemoryPlannerFactory.create(settings, Runnable::run);
    // The planner learns without the allocator, so that the allocator's own books begin empty.
    try (ScopedMemoryCollector step = planner.collect()) {
      List<Tracked> out = new ArrayList<>();
      for (long bytes : new long[] {33_000, 36_900, 40_100, 50_000, 60_100, 70_000, 100_100}) {
        out.add(planner.trackAllocate(64, bytes));
        out.add(planner.trackAllocate(64, bytes));
      }
      out.forEach(planner::trackFree);
      assertTrue(step != null);
    }
    TensorPoolAllocator pool =
        TensorPoolAllocator.builder()
            .subAllocator(source)
            .planner(planner)
            .executor(Runnable::run)
            .isolation(isolation())
            .build();
    assertTrue(pool.isPooling());
    assertTrue(source.bytesReserved() < 1 << 20, "leaves room in the limits of the contract");
    return pool;
  }
}
