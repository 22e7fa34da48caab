package io.prmalloc.trace.planning;

import io.prmalloc.plan.heuristic.PlacementOrder;
import io.prmalloc.plan.heuristic.SearchOptions;
import io.prmalloc.plan.heuristic.SearchWatch;
import java.util.Optional;

/**
 * The options of the strategy {@code heuristic}.
 *
 * <p>Threading: immutable.
 *
 * @param order in which tensors are placed, or the search begins
 * @param search how to look for a better order; empty for not at all
 * @param seed of what the search leaves to chance
 * @param maxTries after how many orders the search ends in any case, from 1
 * @param watch is told how the search goes, and may end it with the best so far
 */
public record OrderOptions(
    PlacementOrder order,
    Optional<SearchOptions.Kind> search,
    long seed,
    long maxTries,
    SearchWatch watch) {

  /** The original's order, no search. */
  public static final OrderOptions DEFAULT =
      new OrderOptions(PlacementOrder.LIFE, Optional.empty(), 1, Long.MAX_VALUE, SearchWatch.NONE);

  /**
   * Threading: any thread.
   *
   * @throws IllegalArgumentException if the tries are less than 1
   */
  public OrderOptions {
    if (maxTries < 1) {
      throw new IllegalArgumentException("tries " + maxTries + " are less than 1");
    }
  }
}
