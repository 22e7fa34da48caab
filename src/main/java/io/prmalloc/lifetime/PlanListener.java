package io.prmalloc.lifetime;

/** Hears of the plan. */
@FunctionalInterface
public interface PlanListener {

  /**
   * The plan is made. Called once, before the planner's phase is {@link MemoryPlanner.Phase#DONE}.
   *
   * <p>Threading: the planner's executor.
   */
  void onPlan(LifetimePlan plan);
}
