package io.prmalloc.plan.exact;

import io.prmalloc.internal.planner.BestFitOffsets;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Random;
import java.util.concurrent.CancellationException;
import java.util.stream.IntStream;

/**
 * One thread that makes plans by best fit, used if there are too many tensors for a {@link
 * SearchWorker}.
 *
 * <p>Threading: one thread; what is shared is the incumbent.
 */
final class GreedyWorker implements Runnable {

  // Best fit, over and over, with orders that learn. The first are plain: by area, by length, by
  // the load where the tensor is alive. The best of them is the one to improve on: tensors that end
  // up high are given more weight, so that they come earlier the next time; what that pushes up is
  // weighted in turn. A round that makes it much worse is forgotten.

  /** How many plans there are before it learns. */
  static final int PLAIN_ROUNDS = Exponents.values().length;

  private static final double HIGH = 0.97;
  private static final double GROWTH = 1.3;

  private final Problem problem;
  private final Incumbent incumbent;
  private final long maxRounds;
  private final int number;
  private final Random random;

  /**
   * A worker that has not begun.
   *
   * @param number of the thread, from 0
   * @param maxRounds how many plans to make
   */
  GreedyWorker(
      Problem problem, Incumbent incumbent, ExactOptions options, int number, long maxRounds) {
    this.problem = problem;
    this.incumbent = incumbent;
    this.maxRounds = maxRounds;
    this.number = number;
    random = new Random(options.seed() + number);
  }

  @Override
  public void run() {
    try {
      improve();
    } catch (CancellationException e) {
      // Somebody said it is over, and that is all there is to it.
      incumbent.end();
    }
  }

  private void improve() {
    double[] keys = new double[problem.count()];
    double[] bestKeys = keys;
    long best = Long.MAX_VALUE;
    Exponents[] shapes = Exponents.values();
    for (int round = 0; round < maxRounds && !incumbent.isOver(); round++) {
      boolean plain = round < shapes.length;
      if (plain) {
        keys = keys(shapes[(round + number) % shapes.length]);
      }
      long[] offsets = place(keys);
      long total = problem.total(offsets);
      incumbent.offer(offsets);
      if (total <= best) {
        best = total;
        bestKeys = keys;
      }
      if (!plain || round == shapes.length - 1) {
        boolean forget = plain || total > best + best / 100;
        keys = weighted(forget ? bestKeys : keys, offsets, total, forget);
      }
    }
  }

  /** How much size and length count. */
  private enum Exponents {
    AREA(1, 1),
    MORE_LENGTH(0.5, 1),
    MORE_SIZE(1, 0.5),
    LENGTH(0.05, 1);

    private final double ofSize;
    private final double ofLength;

    Exponents(double ofSize, double ofLength) {
      this.ofSize = ofSize;
      this.ofLength = ofLength;
    }
  }

  private double[] keys(Exponents exponents) {
    return IntStream.range(0, problem.count())
        .mapToDouble(
            tensor ->
                exponents.ofSize * Math.log((double) problem.size(tensor))
                    + exponents.ofLength
                        * Math.log(problem.last(tensor) - problem.first(tensor) + 1.0))
        .toArray();
  }

  private double[] weighted(double[] from, long[] offsets, long total, boolean shake) {
    double[] keys = from.clone();
    for (int tensor = 0; tensor < keys.length; tensor++) {
      if (offsets[tensor] + problem.size(tensor) > HIGH * total) {
        keys[tensor] += Math.log(GROWTH);
      }
      if (shake) {
        keys[tensor] += 0.02 * random.nextGaussian();
      }
    }
    return keys;
  }

  private long[] place(double[] keys) {
    Integer[] order = IntStream.range(0, keys.length).boxed().toArray(Integer[]::new);
    Arrays.sort(order, Comparator.comparingDouble(tensor -> -keys[tensor]));
    int[] records = new int[problem.records().size()];
    boolean[] isIn = new boolean[records.length];
    int filled = 0;
    for (int tensor : order) {
      records[filled++] = problem.record(tensor);
      isIn[problem.record(tensor)] = true;
    }
    for (int record = 0; record < isIn.length; record++) {
      if (!isIn[record]) {
        records[filled++] = record;
      }
    }
    return problem.offsetsIn(
        BestFitOffsets.assign(problem.records(), records, problem.alignment()));
  }
}
