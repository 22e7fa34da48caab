package io.prmalloc.pool;

import io.prmalloc.Allocation;
import io.prmalloc.lifetime.MemoryPlanner;
import io.prmalloc.lifetime.MemoryPlanner.Tracked;
import io.prmalloc.lifetime.ScopedMemoryCollector;
import java.util.ArrayList;
import java.util.List;

/** Short methods that bring a pool into the state in which a test begins. */
public final class Pools {

  private Pools() {}

  /**
   * Tells the pool's planner of one step in which tensors of these sizes are out together, behind
   * the pool's back, so that nothing is counted.
   */
  public static void learn(TensorPoolAllocator pool, long... totalBytes) {
    ScopedMemoryCollector step = pool.planner().collect();
    track(pool, totalBytes);
    step.close();
  }

  /** A part of such a step: tensors that are allocated together and then all freed. */
  static void track(TensorPoolAllocator pool, long... totalBytes) {
    MemoryPlanner planner = pool.planner();
    List<Tracked> out = new ArrayList<>();
    for (long bytes : totalBytes) {
      out.add(planner.trackAllocate(64, bytes));
    }
    out.forEach(planner::trackFree);
  }

  /** Takes handles of these sizes. */
  public static List<Allocation> take(TensorPoolAllocator pool, long... bytes) {
    List<Allocation> out = new ArrayList<>();
    for (long size : bytes) {
      out.add(pool.allocate(size));
    }
    return out;
  }
}
