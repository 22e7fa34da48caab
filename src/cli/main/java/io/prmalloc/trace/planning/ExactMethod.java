package io.prmalloc.trace.planning;

import io.prmalloc.plan.TensorUsageRecord;
import io.prmalloc.plan.exact.ExactOptions;
import io.prmalloc.plan.exact.ExactPlan;
import io.prmalloc.plan.exact.ExactPlanner;
import io.prmalloc.trace.TensorLifetimes;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * The {@link ExactPlanner}. With a capacity it stops at the first plan that fits, or when it is
 * proven that there is none; without, at the smallest. When its time is over it answers with the
 * best plan so far.
 *
 * <p>Threading: immutable.
 */
final class ExactMethod implements PlanMethod {

  // Whether a plan is the smallest may take years to prove. A request for a capacity waits for the
  // answer; one for a small plan is served by a good one.
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final Duration PATIENCE_AMONG_OTHERS = Duration.ofSeconds(5);

  @Override
  public String label() {
    return "exact";
  }

  @Override
  public boolean isDefined(PlanKind kind, int dimensions) {
    return kind == PlanKind.OFFSETS && dimensions == 1;
  }

  @Override
  public Optional<String> ignoringConstraints(PlanKind kind, PlanOptions options) {
    return Optional.empty();
  }

  @Override
  public Plan plan(PlanKind kind, TensorLifetimes tensors, PlanOptions options)
      throws InterruptedException {
    List<TensorUsageRecord> records = tensors.records();
    ExactPlan best;
    if (options.capacity().isPresent()) {
      best =
          planner(options)
              .fit(records, options.alignment(), options.capacity().getAsLong(), options.watcher())
              .best();
    } else {
      best =
          planner(options.withDefaultTimeout(PATIENCE))
              .minimize(records, options.alignment(), options.watcher());
    }
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
    return new Plan.Offsets(best.assignment(), Optional.of(best.isOptimal()));
  }

  @Override
  public PlanOptions amongOthers(PlanOptions options) {
    return options.withDefaultTimeout(PATIENCE_AMONG_OTHERS);
  }

  private static ExactPlanner planner(PlanOptions options) {
    return new ExactPlanner(
        options.timeout().map(ExactOptions.DEFAULTS::withTimeout).orElse(ExactOptions.DEFAULTS));
  }
}
