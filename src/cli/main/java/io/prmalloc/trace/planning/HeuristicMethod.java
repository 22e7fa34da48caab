package io.prmalloc.trace.planning;

import io.prmalloc.plan.TensorUsageRecord;
import io.prmalloc.plan.heuristic.HeuristicPlanner;
import io.prmalloc.plan.heuristic.OrderSearch;
import io.prmalloc.plan.heuristic.SearchOptions;
import io.prmalloc.trace.TensorLifetimes;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeoutException;

/**
 * The placement by an order, and the searches for a better one.
 *
 * <p>Threading: stateless.
 */
final class HeuristicMethod implements PlanMethod {

  static final String LABEL = "heuristic";

  private static final Duration DEFAULT_SEARCH = Duration.ofSeconds(60);

  @Override
  public String label() {
    return LABEL;
  }

  @Override
  public boolean isDefined(PlanKind kind, int dimensions) {
    return kind == PlanKind.OFFSETS && dimensions == 1;
  }

  @Override
  public Optional<String> ignoringConstraints(PlanKind kind, PlanOptions options) {
    return options.orders().search().map(search -> label() + "'s search");
  }

  @Override
  public Plan plan(PlanKind kind, TensorLifetimes tensors, PlanOptions options)
      throws TimeoutException, InterruptedException {
    OrderOptions orders = options.orders();
    List<TensorUsageRecord> records = tensors.records();
    if (orders.search().isEmpty()) {
      return TimedPlan.make(
          LABEL,
          options.timeout(),
          options.watcher()::isCancelled,
          () ->
              new Plan.Offsets(
                  HeuristicPlanner.assignOffsets(records, orders.order(), options.alignment()),
                  Optional.empty()));
    }
    SearchOptions search =
        new SearchOptions(
            orders.search().get(),
            orders.seed(),
            options.timeout().orElse(DEFAULT_SEARCH),
            orders.maxTries());
    // The search minds the time and its watch itself: its answer then is the best so far.
    return TimedPlan.make(
        LABEL,
        Optional.empty(),
        () -> false,
        () ->
            new Plan.Offsets(
                OrderSearch.assignOffsets(
                    records, orders.order(), options.alignment(), search, orders.watch()),
                Optional.empty()));
  }
}
