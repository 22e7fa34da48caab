package io.prmalloc.plan.exact;

import io.prmalloc.internal.planner.ConstrainedPlacer;
import io.prmalloc.internal.planner.ConstrainedProblem;
import io.prmalloc.plan.OffsetsAssignment;
import io.prmalloc.plan.TensorConstraints;
import io.prmalloc.plan.TensorUsageRecord;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CancellationException;
import java.util.stream.IntStream;

/**
 * The smallest plan under constraints: fixed offsets, alignments that differ, gaps, hints.
 *
 * <p>Source: branching on which tensor lies below which until nothing is in conflict is how job
 * shops are solved (Carlier and Pinson, 1989; Smith and Cheng, 1993).
 *
 * <p>Threading: one thread.
 */
final class ConstrainedSearch {

  // CapacitySearch builds plans from below, tensor on tensor, which is the fastest where nothing
  // but sizes and lives matter. Under constraints a tensor need not lie on another: it lies at its
  // fixed place, or through the gap of one, or by parts below and above the same tensor. So this
  // search decides pairs, see ConstrainedState, and makes no use of the other's essays.
  //
  // In turn, with more steps each time: best fit in orders that learn; the bound; half the way from
  // there to the best plan; one step below the best plan. What is proven impossible raises the
  // bound. Where no offset is fixed, the plain search is asked once as well: a plan without gaps,
  // aligned to what all alignments divide, is one, and if it reaches the bound, nothing is smaller.

  private static final int MAX_PAIRS = 3_000_000;
  private static final long FIRST_WORK = 200_000;
  private static final long PLAIN_STEPS = 300_000;
  private static final int GREEDY_ROUNDS = 12;
  private static final double GROWTH = 1.3;
  private static final double HIGH = 0.97;

  private final ConstrainedProblem problem;
  private final ExactOptions options;
  private final PlanWatcher watcher;
  private final long goal;
  private final boolean hasDeadline;
  private final long deadline;
  private final long step;
  private final Random random;
  private long[] best;
  private long total = Long.MAX_VALUE;
  private long bound;
  private double[] keys;
  private double[] bestKeys;
  private long bestOfOrders = Long.MAX_VALUE;
  private boolean over;

  /**
   * Nothing was tried.
   *
   * @param goal a plan of at most that is good enough; −1 if the smallest is wanted
   * @param nanos how long there is from now; 0 for ever
   */
  ConstrainedSearch(
      ConstrainedProblem problem,
      ExactOptions options,
      PlanWatcher watcher,
      long goal,
      long nanos) {
    this.problem = problem;
    this.options = options;
    this.watcher = watcher;
    this.goal = goal;
    hasDeadline = nanos > 0;
    deadline = System.nanoTime() + nanos;
    step = problem.totalStep();
    random = new Random(options.seed());
    bound = problem.lowerBound();
  }

  /** The best plan; the thread is still interrupted if that ended it. */
  ExactPlan run() {
    // What is promised at least; nothing ends that.
    int[] bySize = ConstrainedPlacer.bySize(problem);
    best = ConstrainedPlacer.place(problem, bySize, false, () -> {});
    total = problem.total(best);
    changed();
    ConstrainedState state = over ? null : ConstrainedState.of(problem, MAX_PAIRS, this::isOver);
    long work = FIRST_WORK;
    for (int round = 0; !over; round++) {
      greedy();
      if (state == null && round > options.maxSearchSteps()) {
        break;
      }
      if (state != null) {
        attempt(state, lowTarget(), work);
        if (goal < 0) {
          attempt(state, bound + (total - bound) / 2 / step * step, work);
          attempt(state, total - step, work);
        }
        work = Math.min(2 * work, Long.MAX_VALUE / 4);
      }
      if (round == 1) {
        plain();
      }
      over |= state != null && state.work() / 1000 > options.maxSearchSteps();
    }
    best = ConstrainedPlacer.followHints(problem, best, bySize, () -> {});
    return plan();
  }

  private long lowTarget() {
    return Math.max(bound, goal);
  }

  private ExactPlan plan() {
    OffsetsAssignment plan = problem.plan(best);
    return new ExactPlan(plan, Math.min(bound, plan.totalBytes()));
  }

  private void offer(long[] offsets) {
    if (problem.total(offsets) < total) {
      best = offsets.clone();
      total = problem.total(best);
      changed();
    }
  }

  private void changed() {
    over |= total <= bound || (goal >= 0 && (total <= goal || bound > goal));
    watcher.improved(plan());
  }

  private boolean isOver() {
    over |=
        (hasDeadline && System.nanoTime() - deadline >= 0)
            || watcher.isCancelled()
            || Thread.currentThread().isInterrupted();
    return over;
  }

  /** Looks for a plan of at most a capacity, for so much work. */
  private void attempt(ConstrainedState state, long capacity, long work) {
    if (isOver() || capacity >= total || capacity < bound) {
      return;
    }
    long limit = state.work() + work;
    int depth = 0;
    int[] marks = new int[16];
    int[] pairs = new int[16];
    boolean[] wasAtMost = new boolean[16];
    long[] alternatives = new long[16];
    boolean isPossible = state.begin(capacity);
    while (true) {
      if (state.work() > limit || isOver()) {
        return;
      }
      if (isPossible) {
        int pair = state.choose();
        if (pair < 0) {
          offer(state.lowest);
          return;
        }
        if (depth == marks.length) {
          marks = Arrays.copyOf(marks, 2 * depth);
          pairs = Arrays.copyOf(pairs, 2 * depth);
          wasAtMost = Arrays.copyOf(wasAtMost, 2 * depth);
          alternatives = Arrays.copyOf(alternatives, 2 * depth);
        }
        boolean isAtMost = state.prefersBelow(pair);
        long below = state.below(pair);
        long above = state.above(pair);
        marks[depth] = state.mark();
        pairs[depth] = pair;
        wasAtMost[depth] = isAtMost;
        alternatives[depth++] = isAtMost ? above : below;
        isPossible = state.decide(pair, isAtMost, isAtMost ? below : above);
      } else {
        if (depth == 0) {
          if (!isOver()) {
            bound = Math.min(total, capacity - capacity % step + step);
            changed();
          }
          return;
        }
        depth--;
        state.undo(marks[depth]);
        isPossible = state.decide(pairs[depth], !wasAtMost[depth], alternatives[depth]);
      }
    }
  }

  /** Best fit, with more weight for what ends up high. */
  private void greedy() {
    try {
      for (int round = 0; round < GREEDY_ROUNDS && !isOver(); round++) {
        if (keys == null) {
          keys = new double[problem.count()];
          Arrays.setAll(keys, this::area);
          bestKeys = keys;
        }
        double[] now = keys;
        int[] order =
            IntStream.range(0, now.length)
                .boxed()
                .sorted((a, b) -> Double.compare(now[b], now[a]))
                .mapToInt(Integer::intValue)
                .toArray();
        long[] offsets = ConstrainedPlacer.place(problem, order, false, this::checkOver);
        long reached = problem.total(offsets);
        offer(offsets);
        if (reached <= bestOfOrders) {
          bestOfOrders = reached;
          bestKeys = keys;
        }
        boolean forget = reached > bestOfOrders + bestOfOrders / 100;
        keys = (forget ? bestKeys : keys).clone();
        for (int tensor = 0; tensor < keys.length; tensor++) {
          if (offsets[tensor] + problem.size(tensor) > HIGH * reached) {
            keys[tensor] += Math.log(GROWTH);
          }
          keys[tensor] += 0.05 * random.nextGaussian();
        }
      }
    } catch (CancellationException e) {
      // It is over; the plan in hand is the best of those that were finished.
      over = true;
    }
  }

  private void checkOver() {
    if (isOver()) {
      throw new CancellationException("the time is over");
    }
  }

  private double area(int tensor) {
    TensorUsageRecord record = problem.records().get(tensor);
    return Math.log(record.sizeBytes() + 1.0)
        + Math.log(record.lastTask() - record.firstTask() + 1.0);
  }

  private void plain() {
    long alignment = problem.alignment();
    List<TensorUsageRecord> plain = new ArrayList<>();
    for (int tensor = 0; tensor < problem.count(); tensor++) {
      alignment = Math.max(alignment, problem.step(tensor));
      if (problem.fixed(tensor) >= 0 || Long.bitCount(problem.step(tensor)) != 1) {
        return;
      }
      plain.add(problem.records().get(tensor).with(TensorConstraints.NONE));
    }
    if (isOver() || alignment > TensorConstraints.MAX_ALIGNMENT) {
      return;
    }
    PlanWatcher stopper =
        new PlanWatcher() {
          @Override
          public boolean isCancelled() {
            return isOver();
          }
        };
    ExactPlanner planner =
        new ExactPlanner(
            options
                .withThreads(1)
                .withMaxSearchSteps(Math.min(PLAIN_STEPS, options.maxSearchSteps())));
    offer(planner.fit(plain, alignment, lowTarget(), stopper).best().assignment().offsets());
  }
}
