package io.prmalloc.trace.replay;

import io.prmalloc.trace.Trace;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;

/**
 * Steps that vary: each is one of some traces, picked by weight, with all its sizes multiplied by a
 * factor that is drawn for the step.
 *
 * <p>A drawn size is the trace's times the factor, rounded down, and at least 64 bytes. All is
 * drawn from a seed, so each allocator gets the same steps in the same order.
 *
 * <p>Threading: immutable.
 *
 * @param traces the steps there are, from 1
 * @param weights how often each is picked, relative to the others; as many as traces
 * @param range where the factors lie; empty where sizes are as they are
 * @param shapes how many factors there are, drawn once and used in random order; 0 for a new one in
 *     each step
 * @param seed where all that is drawn comes from
 */
public record Traffic(
    List<Trace> traces, List<Double> weights, Optional<FactorRange> range, int shapes, long seed) {

  /** The most factors that are drawn once. */
  public static final int MAX_SHAPES = 1_000_000;

  /** The largest weight. */
  public static final double MAX_WEIGHT = 1e9;

  /**
   * Threading: any thread.
   *
   * @throws IllegalArgumentException if there is no trace, the weights are not as many as the
   *     traces, one is out of its bounds, all are 0, or {@code shapes} is out of its bounds or
   *     without a range
   */
  public Traffic {
    traces = List.copyOf(traces);
    weights = List.copyOf(weights);
    if (traces.isEmpty()) {
      throw new IllegalArgumentException("traces is empty; the least is 1");
    }
    if (weights.size() != traces.size()) {
      throw new IllegalArgumentException(
          "weights " + weights + " are " + weights.size() + ", inputs are " + traces.size());
    }
    for (double weight : weights) {
      if (!(weight >= 0 && weight <= MAX_WEIGHT)) {
        throw new IllegalArgumentException(
            "weight " + weight + " is not from 0 to " + (long) MAX_WEIGHT);
      }
    }
    if (weights.stream().mapToDouble(Double::doubleValue).sum() == 0) {
      throw new IllegalArgumentException("weights " + weights + " are all 0");
    }
    if (shapes < 0 || shapes > MAX_SHAPES) {
      throw new IllegalArgumentException(
          "shapes " + shapes + " is not from 1 to " + MAX_SHAPES + ", nor 0 for any factor");
    }
    if (shapes > 0 && range.isEmpty()) {
      throw new IllegalArgumentException("shapes " + shapes + " has no range of factors");
    }
  }

  /**
   * Traces that are picked equally often.
   *
   * <p>Threading: any thread.
   *
   * @throws IllegalArgumentException as the constructor says
   */
  public static Traffic of(List<Trace> traces, Optional<FactorRange> range, int shapes, long seed) {
    return new Traffic(traces, Collections.nCopies(traces.size(), 1.0), range, shapes, seed);
  }

  /**
   * The factors that are drawn once, in no order; none where each step has its own or sizes are as
   * they are.
   *
   * <p>Threading: any thread.
   */
  public double[] factors() {
    SplittableRandom random = new SplittableRandom(seed);
    double[] factors = new double[shapes];
    for (int shape = 0; shape < shapes; shape++) {
      factors[shape] = range.orElseThrow().at(random.nextDouble());
    }
    return factors;
  }

  /** The largest factor that may come; 1 where sizes are as they are. */
  double largestFactor() {
    return range.map(FactorRange::to).orElse(1.0);
  }

  /**
   * The most bytes that live at one time in any of the steps. Threading: any thread.
   *
   * @param alignment what sizes are rounded up to a multiple of, a power of two
   */
  public long loadBytes(long alignment) {
    return traces.stream()
        .mapToLong(trace -> largest(trace).alignedLoadBytes(alignment))
        .max()
        .orElse(0);
  }

  private Trace largest(Trace trace) {
    if (range.isEmpty()) {
      return trace;
    }
    Trace.Builder scaled = Trace.builder(trace.name());
    for (int event : trace.events()) {
      int tensor = event >= 0 ? event : ~event;
      if (event >= 0) {
        scaled.allocate(
            Integer.toString(tensor),
            PlainStepLoop.scaledBytes(trace.sizeBytes(tensor), largestFactor()));
      } else {
        scaled.release(Integer.toString(tensor));
      }
    }
    return scaled.build();
  }

  /** The steps of one thread, one after the other. Threading: one thread. */
  final class Draws {
    private final SplittableRandom random;
    private final double[] factors = factors();
    private final double[] sums = new double[traces.size()];
    private int trace;
    private double factor = 1;

    /**
     * @param thread the number of the thread, from 0
     */
    Draws(int thread) {
      random = new SplittableRandom(Pattern.stepSeed(thread, seed));
      double sum = 0;
      for (int i = 0; i < sums.length; i++) {
        sum += weights.get(i);
        sums[i] = sum;
      }
    }

    /** Draws a step. */
    void next() {
      if (sums.length > 1) {
        double drawn = random.nextDouble() * sums[sums.length - 1];
        trace = 0;
        while (trace < sums.length - 1 && drawn >= sums[trace]) {
          trace++;
        }
      }
      if (range.isPresent()) {
        factor =
            factors.length > 0
                ? factors[random.nextInt(factors.length)]
                : range.get().at(random.nextDouble());
      }
    }

    int trace() {
      return trace;
    }

    double factor() {
      return factor;
    }
  }
}
