package io.prmalloc.plan.exact;

import io.prmalloc.internal.planner.ConstrainedProblem;
import io.prmalloc.plan.MemoryStrategy;
import io.prmalloc.plan.TensorUsageRecord;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.function.BooleanSupplier;

/**
 * Searches for the smallest plan of offsets, within a limit of time or steps.
 *
 * <pre>{@code
 * ExactPlan plan =
 *     new ExactPlanner(ExactOptions.DEFAULTS.withTimeout(Duration.ofSeconds(10)))
 *         .minimize(records, 64, PlanWatcher.NONE);
 * OffsetsAssignment assignment = plan.assignment();
 * }</pre>
 *
 * <p>Whenever it stops there is a plan, no larger than that of {@link
 * MemoryStrategy#GREEDY_BY_SIZE}. An interrupt stops it, too; the thread is still interrupted then.
 *
 * <p>Under constraints of tensors ({@link io.prmalloc.plan.TensorConstraints}) another search runs,
 * on one thread, with the same answers: a plan that observes all of them, and whether none is
 * smaller. Hints come last, and never make the plan larger.
 *
 * <p>Source: the question and much of the way are those of MiniMalloc (Moffitt, ASPLOS 2023).
 *
 * <p>Threading: immutable; every method from any thread.
 */
public final class ExactPlanner {

  private static final long NO_GOAL = -1;
  private static final int MANY_TENSORS = 5000;

  private final ExactOptions options;

  /** Threading: any thread. */
  public ExactPlanner(ExactOptions options) {
    this.options = Objects.requireNonNull(options, "options");
  }

  /**
   * The best plan to be found in some time, with everything else as in {@link
   * ExactOptions#DEFAULTS}.
   *
   * <p>Threading: any thread; {@code cancel} is called from several.
   *
   * @param records the tensors, in any order
   * @param alignment what every offset is to be a multiple of, a power of two from 1 to 2^30
   * @param timeout how long it may take, more than 0
   * @param cancel whether to stop earlier; asked many times
   * @throws IllegalArgumentException if an argument is out of its bounds, or the sizes, rounded up
   *     to the alignment, together pass 2^63 − 1
   */
  public static ExactPlan minimize(
      List<TensorUsageRecord> records, long alignment, Duration timeout, BooleanSupplier cancel) {
    Objects.requireNonNull(cancel, "cancel");
    PlanWatcher watcher =
        new PlanWatcher() {
          @Override
          public boolean isCancelled() {
            return cancel.getAsBoolean();
          }
        };
    return new ExactPlanner(ExactOptions.DEFAULTS.withTimeout(timeout))
        .minimize(records, alignment, watcher);
  }

  /**
   * The smallest plan, or the best that was found when time was over.
   *
   * <p>Threading: any thread.
   *
   * @param records the tensors, in any order; none gives an empty plan
   * @param alignment what every offset is to be a multiple of, a power of two from 1 to 2^30
   * @param watcher is told of every better plan
   * @throws IllegalArgumentException if the alignment is out of its bounds, or the sizes, rounded
   *     up to it, together pass 2^63 − 1
   */
  public ExactPlan minimize(List<TensorUsageRecord> records, long alignment, PlanWatcher watcher) {
    return search(records, alignment, NO_GOAL, watcher);
  }

  /**
   * Whether there is a plan of at most so many bytes.
   *
   * <p>Threading: any thread.
   *
   * @param records the tensors, in any order; none fits always
   * @param alignment what every offset is to be a multiple of, a power of two from 1 to 2^30
   * @param capacityBytes from 0
   * @param watcher is told of every better plan
   * @throws IllegalArgumentException if the alignment or the capacity is out of its bounds, or the
   *     sizes, rounded up to the alignment, together pass 2^63 − 1
   */
  public CapacityAnswer fit(
      List<TensorUsageRecord> records, long alignment, long capacityBytes, PlanWatcher watcher) {
    if (capacityBytes < 0) {
      throw new IllegalArgumentException(
          "capacity " + capacityBytes + " is negative; the least is 0");
    }
    ExactPlan best = search(records, alignment, capacityBytes, watcher);
    if (best.totalBytes() <= capacityBytes) {
      return new CapacityAnswer(CapacityAnswer.Outcome.FITS, best);
    }
    return new CapacityAnswer(
        best.lowerBoundBytes() > capacityBytes
            ? CapacityAnswer.Outcome.DOES_NOT_FIT
            : CapacityAnswer.Outcome.UNKNOWN,
        best);
  }

  private ExactPlan search(
      List<TensorUsageRecord> records, long alignment, long goal, PlanWatcher watcher) {
    Objects.requireNonNull(watcher, "watcher");
    long nanos = options.timeout().map(ExactPlanner::nanos).orElse(0L);
    long plain = ConstrainedProblem.plainAlignment(records, alignment);
    if (plain == 0) {
      ConstrainedProblem constrained = new ConstrainedProblem(records, alignment);
      return new ConstrainedSearch(constrained, options, watcher, goal, nanos).run();
    }
    Problem problem = new Problem(records, plain);
    Incumbent incumbent = new Incumbent(problem, watcher, goal, nanos);
    SearchThreads threads = new SearchThreads(incumbent, problem.count());
    try {
      search(problem, incumbent, threads);
    } finally {
      // If that failed, for instance as no thread could be started: what runs is not wanted.
      incumbent.end();
      threads.join();
    }
    return incumbent.plan();
  }

  private void search(Problem problem, Incumbent incumbent, SearchThreads threads) {
    // What is promised at least; it costs little, and may run beside the search.
    threads.start(() -> incumbent.offer(greedyBySize(problem)), false);
    boolean isHuge = Neighbours.isTooMany(problem);
    if (isHuge || options.threads() == 1) {
      threads.join();
    }
    Neighbours neighbours = isHuge || incumbent.isOver() ? null : new Neighbours(problem);
    for (int number = 0; number < options.threads() && !incumbent.isOver(); number++) {
      threads.start(worker(problem, neighbours, incumbent, number), true);
    }
    threads.join();
  }

  // Where a search takes seconds to come down once, greedy plans are the better for a start: of
  // several threads every second makes them all the time, one alone makes a few first.
  private Runnable worker(Problem problem, Neighbours neighbours, Incumbent incumbent, int number) {
    boolean isGreedy = options.uses(Technique.GREEDY_ORDERS) && problem.count() > MANY_TENSORS;
    Runnable greedy =
        new GreedyWorker(problem, incumbent, options, number, options.maxSearchSteps());
    if (neighbours == null) {
      return isGreedy ? greedy : incumbent::end;
    }
    Runnable search = new SearchWorker(problem, neighbours, incumbent, options, number);
    if (!isGreedy) {
      return search;
    }
    if (options.threads() > 1) {
      return number % 2 == 1 ? greedy : search;
    }
    Runnable start =
        new GreedyWorker(problem, incumbent, options, number, GreedyWorker.PLAIN_ROUNDS);
    return () -> {
      start.run();
      search.run();
    };
  }

  private static long[] greedyBySize(Problem problem) {
    return problem.offsetsIn(
        MemoryStrategy.GREEDY_BY_SIZE.assignOffsets(problem.records(), problem.alignment()));
  }

  /** In nanoseconds; about 146 years where it is longer. */
  private static long nanos(Duration timeout) {
    return timeout.compareTo(Duration.ofNanos(Long.MAX_VALUE / 2)) > 0
        ? Long.MAX_VALUE / 2
        : timeout.toNanos();
  }
}
