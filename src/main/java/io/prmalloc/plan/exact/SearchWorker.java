package io.prmalloc.plan.exact;

import java.util.Set;

/**
 * One thread's search.
 *
 * <p>Threading: one thread; what is shared is the incumbent.
 */
final class SearchWorker implements Runnable {

  // Attempt after attempt, each with a capacity, an order and a number of steps of its own. What an
  // attempt has learnt about a capacity is kept as long as the next one has the same.

  private final Problem problem;
  private final Neighbours neighbours;
  private final Incumbent incumbent;
  private final Set<Technique> techniques;
  private final Orders orders;
  private final Targets targets;
  private final int number;
  private final int threads;
  private long stepsLeft;
  private CapacitySearch search;
  private long capacityOfSearch = -1;

  /**
   * A worker that has not begun.
   *
   * @param number of the thread, from 0
   */
  SearchWorker(
      Problem problem,
      Neighbours neighbours,
      Incumbent incumbent,
      ExactOptions options,
      int number) {
    this.problem = problem;
    this.neighbours = neighbours;
    this.incumbent = incumbent;
    this.number = number;
    techniques = options.techniques();
    threads = options.threads();
    stepsLeft = options.maxSearchSteps();
    orders = new Orders(problem, options.seed() + number, options.uses(Technique.LEARNED_ORDERS));
    targets = new Targets(problem, incumbent, number, options.uses(Technique.RESTARTS));
  }

  @Override
  public void run() {
    // Threads take turns in the orders, so the plain ones are tried once.
    for (int attempt = number; stepsLeft > 0 && !incumbent.isOver(); attempt += threads) {
      long capacity = targets.nextCapacity();
      if (capacity != capacityOfSearch) {
        search = new CapacitySearch(problem, neighbours, capacity, techniques, incumbent::isOver);
        capacityOfSearch = capacity;
      }
      Order order = orders.next(attempt, search.failures());
      CapacitySearch.Result result = search.run(order, Math.min(stepsLeft, targets.nextSteps()));
      stepsLeft -= search.steps();
      switch (result) {
        case FOUND -> incumbent.offer(search.offsets());
        case NONE -> incumbent.raiseLowerBound(problem.nextTotal(capacity));
        case GIVEN_UP -> {
          // The next attempt is another.
        }
      }
    }
  }
}
