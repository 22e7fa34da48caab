package io.prmalloc.trace.planning;

import io.prmalloc.trace.TensorLifetimes;
import java.util.Optional;
import java.util.concurrent.TimeoutException;

/**
 * A strategy as the command line offers it.
 *
 * <p>Threading: any thread.
 */
public interface PlanMethod {

  /** Its name on the command line. Threading: any thread. */
  String label();

  /**
   * Whether it makes such plans.
   *
   * <p>Threading: any thread.
   *
   * @param dimensions of the tensors' sizes: 1 for bytes, 2 to 4 for shapes
   */
  boolean isDefined(PlanKind kind, int dimensions);

  /**
   * The part of the method that ignores alignments, fixed offsets and gaps of tensors.
   *
   * <p>Threading: any thread.
   *
   * @param kind a kind that the method is defined for
   * @return as errors name it; empty if the plan would keep the constraints
   */
  Optional<String> ignoringConstraints(PlanKind kind, PlanOptions options);

  /**
   * Makes a plan.
   *
   * <p>Threading: any thread.
   *
   * @param kind what it is asked for, and is defined for
   * @throws IllegalArgumentException if the tensors are not for this strategy, such as too many
   * @throws TimeoutException if the time is over and there is no plan
   * @throws InterruptedException if the thread was interrupted
   */
  Plan plan(PlanKind kind, TensorLifetimes tensors, PlanOptions options)
      throws TimeoutException, InterruptedException;

  /**
   * The options of a run that was not asked for by name: a strategy that can be cut short is to
   * leave time to the others.
   *
   * <p>Threading: any thread.
   */
  default PlanOptions amongOthers(PlanOptions options) {
    return options;
  }
}
