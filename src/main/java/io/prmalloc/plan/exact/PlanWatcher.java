package io.prmalloc.plan.exact;

/**
 * Watches an {@link ExactPlanner} at work and may stop it.
 *
 * <p>Threading: calls come from the planner's threads, one at a time for {@link #improved}.
 */
public interface PlanWatcher {

  /** Lets the planner run and takes no notice. */
  PlanWatcher NONE = new PlanWatcher() {};

  /**
   * Whether to stop with the best plan so far. Asked at least every few hundredths of a second.
   *
   * <p>Threading: any thread, several at a time.
   */
  default boolean isCancelled() {
    return false;
  }

  /**
   * There is a better plan, or more is known of how small a plan can be. An exception that this
   * throws ends the planner and reaches its caller.
   *
   * <p>Threading: one thread at a time.
   *
   * @param best the best plan so far
   */
  default void improved(ExactPlan best) {}
}
