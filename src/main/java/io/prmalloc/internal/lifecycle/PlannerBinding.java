package io.prmalloc.internal.lifecycle;

import io.prmalloc.internal.block.StepSource;
import io.prmalloc.lifetime.MemoryPlanner;

/**
 * How a planner gets its allocator. Every {@link MemoryPlanner} has it; it is not among the
 * planner's own methods because the types that it names are not for users.
 *
 * <p>Threading: any thread.
 */
public interface PlannerBinding {

  /**
   * Binds the allocator that gets the plan and serves the steps. Planner and allocator belong to
   * each other: a second one is refused. A planner that is not enabled refuses none and tells none
   * of a plan, and steps ask the last.
   *
   * <p>Threading: any thread; before the first step.
   *
   * @param steps serves what steps ask for; null if steps have no memory
   * @throws IllegalStateException if an allocator is bound already
   */
  void bind(PlanListener listener, StepSource steps);

  /**
   * {@link #bind(PlanListener, StepSource)} of this planner.
   *
   * <p>Threading: any thread; before the first step.
   *
   * @throws IllegalStateException if an allocator is bound already
   */
  static void bind(MemoryPlanner planner, PlanListener listener, StepSource steps) {
    ((PlannerBinding) planner).bind(listener, steps);
  }
}
