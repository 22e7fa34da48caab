package io.prmalloc.plan;

import io.prmalloc.internal.planner.ConstrainedPlacer;
import io.prmalloc.internal.planner.ConstrainedProblem;
import io.prmalloc.internal.planner.EqualityStrategy;
import io.prmalloc.internal.planner.GreedyBestStrategy;
import io.prmalloc.internal.planner.GreedyByBreadthStrategy;
import io.prmalloc.internal.planner.GreedyBySizeOffsets;
import io.prmalloc.internal.planner.GreedyBySizeStrategy;
import io.prmalloc.internal.planner.GreedyInOrderOfShapes;
import io.prmalloc.internal.planner.GreedyInOrderStrategy;
import io.prmalloc.internal.planner.MinCostFlowStrategy;
import io.prmalloc.internal.planner.NaiveStrategy;
import io.prmalloc.internal.planner.ObjectsStrategy;
import io.prmalloc.internal.planner.ShapesStrategy;
import io.prmalloc.internal.planner.index.Lives;
import io.prmalloc.internal.planner.index.ReallocationGraph;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * The strategies of TensorFlow Lite's memory management, by which tensors share memory. They give
 * the same plans, ties included.
 *
 * <p>Lists may come in any order; a strategy works by first task and answers in the order of the
 * list. An empty list gives an empty plan. <i>n</i> is the number of tensors, <i>m</i> that of the
 * objects; where a cost is quadratic or worse, 20,000 tensors take seconds and more are not what
 * the strategy is for.
 *
 * <p>A thread that is interrupted while it plans stops with a {@link
 * java.util.concurrent.CancellationException}, its interrupt consumed.
 *
 * <p>Source: TensorFlow Lite's GPU delegate; Pisarchyk and Lee, "Efficient Memory Management for
 * Deep Neural Net Inference", 2020.
 *
 * <p>Threading: immutable; every method from any thread.
 */
public enum MemoryStrategy {
  /** One object per tensor. O(n). For shapes of any number of dimensions. */
  NAIVE,

  /**
   * Tensors of exactly equal size share. O(n log n). For shapes of any number of dimensions; of two
   * or three, the free object with the smallest id is taken, else the one freed last.
   */
  EQUALITY,

  /**
   * By first task, each into the free object that wastes or grows the least. O(n log n); with a
   * reallocation graph O(n · m). For shapes of two and three dimensions, where objects do not grow,
   * O(n · m).
   */
  GREEDY_IN_ORDER,

  /**
   * Tasks with the most live bytes first. O(n · m · log n) at worst; O(n log n) if everything is
   * alive at once.
   */
  GREEDY_BY_BREADTH,

  /**
   * Objects: largest tensors first, those that nearly touch an object in time before others. O(n
   * log n), but for tensors that have several equally near objects: these look at all tensors that
   * were placed as near, O(n²) at worst.
   *
   * <p>Offsets: largest tensors first, each into the smallest gap; see {@link #assignOffsets}.
   */
  GREEDY_BY_SIZE,

  /** The better of {@link #GREEDY_BY_SIZE} and {@link #GREEDY_BY_BREADTH}, as objects. */
  GREEDY_BEST,

  /**
   * Which tensor follows which in an object, as a flow of least cost. O(n³) and more, n² memory, so
   * it refuses lists of more than {@value MinCostFlowStrategy#MAX_TENSORS} tensors, unless all of
   * them are alive at once: then each has an object of its own, O(n log n).
   */
  MIN_COST_FLOW;

  private ObjectsStrategy objects() {
    return switch (this) {
      case NAIVE -> new NaiveStrategy();
      case EQUALITY -> new EqualityStrategy();
      case GREEDY_IN_ORDER -> new GreedyInOrderStrategy();
      case GREEDY_BY_BREADTH -> new GreedyByBreadthStrategy();
      case GREEDY_BY_SIZE -> new GreedyBySizeStrategy();
      case GREEDY_BEST -> new GreedyBestStrategy();
      case MIN_COST_FLOW -> new MinCostFlowStrategy();
    };
  }

  /** Empty if the strategy is defined for sizes in bytes only. */
  private Optional<ShapesStrategy> shapes() {
    return switch (this) {
      case NAIVE -> Optional.of(new NaiveStrategy());
      case EQUALITY -> Optional.of(new EqualityStrategy());
      case GREEDY_IN_ORDER -> Optional.of(new GreedyInOrderOfShapes());
      default -> Optional.empty();
    };
  }

  /** As the command line has it: {@code greedy-by-size}. Threading: any thread. */
  public String label() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /**
   * Plans shared objects.
   *
   * <p>Threading: any thread.
   *
   * @param records the tensors, in any order
   * @return an object for each of them, in the order of {@code records}; objects are numbered in
   *     the order the strategy makes them
   * @throws IllegalArgumentException if the sizes together pass 2^63 − 1, there are more tensors
   *     than the strategy takes, or a tensor has constraints: objects have no offsets and no gaps
   * @throws java.util.concurrent.CancellationException if the thread is interrupted
   */
  public ObjectsAssignment assignObjects(List<TensorUsageRecord> records) {
    ConstrainedProblem.refuse(records, label());
    Lives lives = new Lives(records);
    return inCallersOrder(lives, objects().assign(lives));
  }

  /**
   * Plans shared objects where not every tensor may follow every other: a tensor may take a free
   * object only if the graph lets it follow the tensor that had the object last.
   *
   * <p>Threading: any thread.
   *
   * @param records the tensors, in any order
   * @param followers the graph: for each tensor the tensors that may follow it, ascending, by their
   *     places in {@code records}
   * @throws IllegalArgumentException if this is not {@link #GREEDY_IN_ORDER}, the only strategy for
   *     which a reallocation graph is defined; if the graph is for another number of tensors; if it
   *     names a tensor that is not there, or a list does not ascend; if the sizes together pass
   *     2^63 − 1
   * @throws java.util.concurrent.CancellationException if the thread is interrupted
   */
  public ObjectsAssignment assignObjects(
      List<TensorUsageRecord> records, List<List<Integer>> followers) {
    if (this != GREEDY_IN_ORDER) {
      throw new IllegalArgumentException(
          label() + " is not defined with a reallocation graph; greedy-in-order is");
    }
    ReallocationGraph graph = new ReallocationGraph(followers);
    graph.checkTensorCount(records.size());
    ConstrainedProblem.refuse(records, label());
    Lives lives = new Lives(records);
    return inCallersOrder(lives, GreedyInOrderStrategy.assign(lives, graph));
  }

  private static ObjectsAssignment inCallersOrder(Lives lives, ObjectsAssignment plan) {
    return ObjectsAssignment.of(lives.toCaller(plan.objectIds()), plan.objectSizesBytes());
  }

  /**
   * Whether {@link #assignShapedObjects} is defined for shapes of so many dimensions.
   *
   * <p>Threading: any thread.
   */
  public boolean takesShapes(int dimensions) {
    return dimensions >= 2
        && shapes().filter(shapes -> dimensions <= shapes.maxDimensions()).isPresent();
  }

  /**
   * Plans shared objects for tensors with shapes.
   *
   * <p>Threading: any thread.
   *
   * @param records the tensors, in any order, all shapes with equally many dimensions
   * @throws IllegalArgumentException if shapes differ in their number of dimensions; if the
   *     strategy is not defined for it; if the tensors together have more than 2^63 − 1 elements
   * @throws java.util.concurrent.CancellationException if the thread is interrupted
   */
  public ShapedObjectsAssignment assignShapedObjects(List<ShapedUsageRecord> records) {
    Lives lives = new Lives(records.stream().map(ShapedUsageRecord::flat).toList());
    List<TensorShape> ordered =
        lives.inOrder(records).stream().map(ShapedUsageRecord::shape).toList();
    for (TensorShape shape : ordered) {
      int dimensions = shape.dimensions().size();
      if (!takesShapes(dimensions)) {
        throw new IllegalArgumentException(
            label() + " is not defined for sizes of " + dimensions + " dimensions");
      }
      if (dimensions != ordered.get(0).dimensions().size()) {
        throw new IllegalArgumentException(
            "sizes " + ordered.get(0) + " and " + shape + " differ in their number of dimensions");
      }
    }
    if (ordered.isEmpty()) {
      return ShapedObjectsAssignment.of(new int[0], List.of());
    }
    ShapedObjectsAssignment plan = shapes().orElseThrow().assign(lives, ordered);
    return ShapedObjectsAssignment.of(lives.toCaller(plan.objectIds()), plan.objectShapes());
  }

  /**
   * Whether {@link #assignOffsets} observes constraints of tensors; no strategy observes them in
   * plans of objects.
   *
   * <p>Threading: any thread.
   */
  public boolean observesConstraints() {
    return this == GREEDY_BY_SIZE;
  }

  /**
   * Plans offsets in one arena.
   *
   * <p>{@link #GREEDY_BY_SIZE} has a way of its own: the largest tensor first, each into the
   * smallest gap between the tensors that are alive with it, the lowest of equally small ones; if
   * none is large enough, on top. Close to O(n log² n), whether lives are short or most tensors are
   * alive at once; O(n²) for inputs made to be slow. All others lay their objects end to end.
   *
   * <p>{@link #GREEDY_BY_SIZE} observes constraints, in O(n · a · log n) then for n tensors of
   * which a are alive with each: fixed tensors come first; hints are tried, and never make the plan
   * larger. All others refuse them.
   *
   * <p>Threading: any thread.
   *
   * @param records the tensors, in any order
   * @param alignment what every offset is to be a multiple of, a power of two from 1 to 2^30
   * @throws IllegalArgumentException if the alignment is out of its bounds; if the sizes, aligned,
   *     together pass 2^63 − 1, under constraints 2^61; if there are more tensors than the strategy
   *     takes; if a tensor has constraints and this is not {@link #GREEDY_BY_SIZE}; if fixed
   *     offsets are not aligned, or two of them cannot both be kept
   * @throws java.util.concurrent.CancellationException if the thread is interrupted
   */
  public OffsetsAssignment assignOffsets(List<TensorUsageRecord> records, long alignment) {
    if (this == GREEDY_BY_SIZE) {
      long plain = ConstrainedProblem.plainAlignment(records, alignment);
      return plain > 0
          ? GreedyBySizeOffsets.assign(records, plain)
          : ConstrainedPlacer.assignBySize(records, alignment);
    }
    return assignObjects(records).toOffsets(records, alignment);
  }
}
