package io.prmalloc.internal.lifecycle;

import io.prmalloc.lifetime.LifetimePlan;
import io.prmalloc.lifetime.MemoryPlanner;

/** Is called when the planner has a plan. */
@FunctionalInterface
public interface PlanListener {

  /**
   * A plan is made. Called again, with another plan, only after a call that returned false or
   * threw: the planner then ends the attempt, and learns anew later.
   *
   * <p>Threading: the planner's executor.
   *
   * @return whether a plan serves now; only then the planner's phase becomes {@link
   *     MemoryPlanner.Phase#DONE}
   */
  boolean onPlan(LifetimePlan plan);

  /**
   * An attempt to learn was given up, in whatever stage, that of {@link #onPlan} included.
   *
   * <p>Threading: any thread that the planner hears of steps from, or its executor.
   *
   * @param reason why, for people
   */
  default void onFailure(String reason) {}
}
