package io.prmalloc.internal.planner;

import io.prmalloc.internal.planner.index.LifeTree;
import io.prmalloc.plan.OffsetsAssignment;
import io.prmalloc.plan.TensorUsageRecord;
import java.util.Comparator;
import java.util.List;
import java.util.OptionalLong;
import java.util.stream.IntStream;

/**
 * Best fit under constraints: the fixed tensors first, then the others in a given order, each into
 * the smallest gap, the lowest of equals, or on top. Without constraints the answer is that of
 * {@link GreedyBySizeOffsets} for the same order.
 *
 * <p>Threading: stateless.
 */
public final class ConstrainedPlacer {

  // A tree finds the tensors alive with one; what they forbid it is sorted. That is n · a · log n
  // for n tensors of which a are alive with each.

  /**
   * The placed tensors.
   *
   * <p>Threading: not safe.
   */
  private static final class Placed {
    private final ConstrainedProblem problem;
    private final LifeTree tree;
    private final int[] alive;
    private final LongPairs taken = new LongPairs();

    Placed(ConstrainedProblem problem) {
      this.problem = problem;
      tree = problem.lifeTree();
      alive = new int[problem.count()];
    }

    void add(int tensor) {
      tree.add(tensor);
    }

    /** What offsets a tensor cannot have beside the others; until the next call. */
    LongPairs forbidden(int tensor, long[] offsets) {
      taken.clear();
      int count = tree.collect(problem.birth(tensor), problem.death(tensor), alive);
      for (int i = 0; i < count; i++) {
        if (alive[i] != tensor) {
          problem.forbid(alive[i], tensor, offsets[alive[i]], taken);
        }
      }
      taken.merge();
      return taken;
    }
  }

  private ConstrainedPlacer() {}

  /**
   * The plan of an order. Hints are kept where the place is free when the tensor's turn comes; if
   * that made the plan larger than without, they are kept only as far as they cost nothing.
   *
   * <p>Threading: any thread.
   *
   * @throws java.util.concurrent.CancellationException if the thread is interrupted
   */
  public static OffsetsAssignment assign(ConstrainedProblem problem, int[] order) {
    long[] offsets = place(problem, order, false, Interrupts::check);
    return problem.plan(followHints(problem, offsets, order, Interrupts::check));
  }

  /**
   * Largest first, equals as they are.
   *
   * <p>Threading: any thread.
   *
   * @throws java.util.concurrent.CancellationException if the thread is interrupted
   */
  public static OffsetsAssignment assignBySize(List<TensorUsageRecord> records, long alignment) {
    ConstrainedProblem problem = new ConstrainedProblem(records, alignment);
    return assign(problem, bySize(problem));
  }

  /** Largest first, of equals the first to begin. Threading: any thread. */
  public static int[] bySize(ConstrainedProblem problem) {
    return IntStream.range(0, problem.count())
        .boxed()
        .sorted(
            Comparator.<Integer>comparingLong(i -> -problem.size(i))
                .thenComparingLong(i -> problem.records().get(i).firstTask()))
        .mapToInt(Integer::intValue)
        .toArray();
  }

  /**
   * Offsets with tensors at their hints, without a larger total: all are placed anew in an order,
   * or if that needs more, those are moved whose hint is free. Other ways are not tried, so a hint
   * may be missed that would cost nothing.
   *
   * <p>Threading: any thread.
   *
   * @param offsets a plan
   * @param order in which to place all anew
   * @param beforeEach runs before each tensor
   */
  public static long[] followHints(
      ConstrainedProblem problem, long[] offsets, int[] order, Runnable beforeEach) {
    if (problem.records().stream().allMatch(r -> r.constraints().hint().isEmpty())) {
      return offsets;
    }
    long[] hinted = place(problem, order, true, beforeEach);
    if (problem.total(hinted) <= problem.total(offsets)) {
      return hinted;
    }
    long total = problem.total(offsets);
    long[] moved = offsets.clone();
    Placed placed = new Placed(problem);
    IntStream.range(0, moved.length).forEach(placed::add);
    for (int tensor = 0; tensor < moved.length; tensor++) {
      beforeEach.run();
      OptionalLong hint = problem.records().get(tensor).constraints().hint();
      if (hint.isPresent() && hint.getAsLong() <= total - problem.size(tensor)) {
        LongPairs taken = placed.forbidden(tensor, moved);
        if (isFree(problem, tensor, hint.getAsLong(), taken)) {
          moved[tensor] = hint.getAsLong();
        }
      }
    }
    return moved;
  }

  /**
   * Where the tensors lie.
   *
   * <p>Threading: any thread.
   *
   * @param order all tensors
   * @param useHints whether a hint that is free is taken
   * @param beforeEach runs before each tensor
   */
  public static long[] place(
      ConstrainedProblem problem, int[] order, boolean useHints, Runnable beforeEach) {
    long[] offsets = new long[order.length];
    Placed placed = new Placed(problem);
    for (int tensor : order) {
      if (problem.fixed(tensor) >= 0) {
        offsets[tensor] = problem.fixed(tensor);
        placed.add(tensor);
      }
    }
    for (int tensor : order) {
      beforeEach.run();
      if (problem.fixed(tensor) < 0) {
        offsets[tensor] = find(problem, tensor, placed.forbidden(tensor, offsets), useHints);
        placed.add(tensor);
      }
    }
    return offsets;
  }

  private static long find(
      ConstrainedProblem problem, int tensor, LongPairs taken, boolean useHints) {
    OptionalLong hint = problem.records().get(tensor).constraints().hint();
    if (useHints && hint.isPresent() && isFree(problem, tensor, hint.getAsLong(), taken)) {
      return hint.getAsLong();
    }
    long at = 0;
    long best = -1;
    long bestGap = Long.MAX_VALUE;
    for (int i = 0; i < taken.count(); i++) {
      long gap = taken.start(i) - at;
      if (gap >= 0 && gap < bestGap) {
        bestGap = gap;
        best = at;
      }
      at = Math.max(at, problem.alignUp(tensor, taken.end(i)));
    }
    return best >= 0 ? best : at;
  }

  private static boolean isFree(
      ConstrainedProblem problem, int tensor, long offset, LongPairs taken) {
    boolean isFree =
        offset % problem.step(tensor) == 0 && offset <= Long.MAX_VALUE / 2 - problem.size(tensor);
    for (int i = 0; i < taken.count() && isFree; i++) {
      isFree = offset <= taken.start(i) || offset >= taken.end(i);
    }
    return isFree && (problem.fixed(tensor) < 0 || problem.fixed(tensor) == offset);
  }
}
