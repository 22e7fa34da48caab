package io.prmalloc.trace.planning;

import java.util.Optional;

/**
 * One strategy run once. Either there is a plan, or a reason why not.
 *
 * <p>Threading: immutable.
 *
 * @param strategy its name
 * @param kind what it was asked for
 * @param nanos how long it took
 * @param plan what it answered
 * @param fault what is wrong with the plan; empty if it is valid, or there is none
 * @param skipped why it was not tried to the end, though others were; empty if it was
 * @param failed why there is no plan; empty if there is one, or it was skipped
 */
public record PlanRun(
    String strategy,
    PlanKind kind,
    long nanos,
    Optional<Plan> plan,
    Optional<String> fault,
    Optional<String> skipped,
    Optional<String> failed) {

  /** Why a run was skipped that was ended from outside. */
  static final String CANCELLED = "interrupted";

  /** Whether it was ended from outside, and has no plan. Threading: any thread. */
  public boolean isCancelled() {
    return skipped.filter(CANCELLED::equals).isPresent();
  }

  /** The plan if it is valid. Threading: any thread. */
  public Optional<Plan> validPlan() {
    return fault.isEmpty() ? plan : Optional.empty();
  }
}
