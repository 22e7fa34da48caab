package io.prmalloc.cli;

import io.prmalloc.plan.heuristic.PlacementOrder;
import io.prmalloc.plan.heuristic.SearchOptions;
import io.prmalloc.plan.heuristic.SearchWatch;
import io.prmalloc.trace.planning.OrderOptions;
import io.prmalloc.trace.planning.Planning;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Option;

/**
 * The arguments of {@code plan} that are for the strategy {@code heuristic}.
 *
 * <p>Threading: one thread.
 */
final class OrderArguments {

  private static final String HEURISTIC = "heuristic";

  @Option(
      names = "--order",
      paramLabel = "ORDER",
      description =
          "heuristic: in which order tensors are placed, or the search begins; life, the longest"
              + " life first, or size, the largest first. Default: life.")
  private PlacementOrder order;

  @Option(
      names = "--search",
      paramLabel = "HOW",
      description =
          "heuristic: look for a better order by swaps (of two tensors at a time) or by annealing."
              + " Ctrl-C ends it with the best found.")
  private SearchOptions.Kind search;

  @Option(
      names = "--seed",
      paramLabel = "N",
      description = "heuristic: of what the search leaves to chance. Default: 1.")
  private Long seed;

  @Option(
      names = "--tries",
      paramLabel = "N",
      description =
          "heuristic: end the search after N orders, from 1. With the same seed the answer is the"
              + " same.")
  private Long tries;

  OrderArguments() {}

  /** Whether a search is asked for, which Ctrl-C ends. */
  boolean isSearch() {
    return search != null;
  }

  /**
   * What was said.
   *
   * @param strategies those that were named
   * @param watch watches the search, if there is one
   * @throws IllegalArgumentException if something was said that means nothing here
   */
  OrderOptions read(List<String> strategies, SearchWatch watch) {
    boolean said = order != null || search != null || seed != null || tries != null;
    if (said
        && !strategies.isEmpty()
        && !strategies.contains(HEURISTIC)
        && !strategies.contains(Planning.ALL)) {
      throw new IllegalArgumentException(
          "--order, --search, --seed and --tries are for the strategy " + HEURISTIC);
    }
    if (search == null && (seed != null || tries != null)) {
      throw new IllegalArgumentException("--seed and --tries are for --search");
    }
    OrderOptions byDefault = OrderOptions.DEFAULT;
    return new OrderOptions(
        order == null ? byDefault.order() : order,
        Optional.ofNullable(search),
        seed == null ? byDefault.seed() : seed,
        tries == null ? byDefault.maxTries() : tries,
        watch);
  }
}
