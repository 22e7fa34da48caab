package io.prmalloc.plan.exact;

import io.prmalloc.internal.planner.index.Sums;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Random;
import java.util.stream.IntStream;

/**
 * Orders in which a search tries tensors, a new one for every attempt.
 *
 * <p>Threading: not safe.
 */
final class Orders {

  // Long lives belong to the bottom, where the floor is even, so that short ones lie on them; what
  // is alive when most is alive has the least choice, so it comes early, too. Which of the two
  // counts for more, and whether size does, differs from one set of tensors to the next, so the
  // attempts take turns. The first of each kind is plain; later ones are drawn by chance around it,
  // some closely and some far. Last, what had no room in the attempts before comes earlier.

  private enum Kind {
    LENGTH,
    LOAD,
    AREA
  }

  private static final int MANY_TENSORS = 2000;
  private static final double[] SPREADS = {0.03, 0.1, 0.3};
  private static final Kind[] TURNS = {
    Kind.LENGTH, Kind.LOAD, Kind.LENGTH, Kind.LOAD, Kind.LENGTH, Kind.LOAD, Kind.AREA
  };

  private final Problem problem;
  private final Random random;
  private final boolean learns;
  private final long[] loads;

  Orders(Problem problem, long seed, boolean learns) {
    this.problem = problem;
    this.learns = learns;
    random = new Random(seed);
    loads = new long[problem.count()];
    long[] sums = new long[problem.sectionCount() + 1];
    for (int tensor = 0; tensor < loads.length; tensor++) {
      sums[problem.first(tensor)] += problem.size(tensor);
      sums[problem.last(tensor) + 1] -= problem.size(tensor);
    }
    Sums.accumulate(sums);
    Room byMinus = new Room(Arrays.stream(sums).map(sum -> -sum).toArray());
    for (int tensor = 0; tensor < loads.length; tensor++) {
      loads[tensor] = -byMinus.min(problem.first(tensor), problem.last(tensor));
    }
  }

  /**
   * An order.
   *
   * @param attempt its number, from 0
   * @param failures by section: how often it had no room
   */
  Order next(int attempt, long[] failures) {
    int plain = Kind.values().length;
    Kind kind = attempt < plain ? Kind.values()[attempt] : TURNS[attempt % TURNS.length];
    double spread = attempt < plain ? 0 : SPREADS[attempt / TURNS.length % SPREADS.length];
    double[] weights = learns && attempt % 2 == 1 ? weights(failures) : null;
    double[] keys = new double[problem.count()];
    for (int tensor = 0; tensor < keys.length; tensor++) {
      double key = key(kind, tensor) * Math.exp(spread * random.nextGaussian());
      keys[tensor] = weights == null ? key : key * weights[tensor];
    }
    Integer[] order = IntStream.range(0, keys.length).boxed().toArray(Integer[]::new);
    Arrays.sort(
        order,
        Comparator.<Integer>comparingDouble(tensor -> -keys[tensor])
            .thenComparingLong(tensor -> -problem.size(tensor)));
    int[] places = new int[keys.length];
    for (int place = 0; place < order.length; place++) {
      places[order[place]] = place;
    }
    boolean looksAtSections = problem.count() <= MANY_TENSORS || attempt % 2 == 1;
    return new Order(places, attempt % 4 >= 2, looksAtSections);
  }

  private double key(Kind kind, int tensor) {
    double length = problem.last(tensor) - problem.first(tensor) + 1;
    return switch (kind) {
      case LENGTH -> length;
      // Length decides between equal loads, and no more.
      case LOAD -> loads[tensor] * (1 + 1e-6 * length);
      case AREA -> length * problem.size(tensor);
    };
  }

  /** From 1 for tensors whose sections never failed, to 2 for one whose failed the most. */
  private double[] weights(long[] failures) {
    long most = Math.max(1, Arrays.stream(failures).max().orElse(1));
    Room byMinus = new Room(Arrays.stream(failures).map(count -> -count).toArray());
    return IntStream.range(0, problem.count())
        .mapToDouble(
            tensor -> 1 - (double) byMinus.min(problem.first(tensor), problem.last(tensor)) / most)
        .toArray();
  }
}
