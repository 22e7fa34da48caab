package io.prmalloc.jmh.report;

import io.prmalloc.jmh.rival.Rival;
import java.util.Arrays;
import java.util.OptionalDouble;

/**
 * The result of one rival in one setting.
 *
 * <p>Threading: immutable.
 *
 * @param key which rival, and where
 * @param nanos time of one operation
 * @param forks of how many forks that is the median
 * @param heapBytes Java heap of one operation; empty where it was not measured
 * @param faults minor page faults of one operation; empty where they were not counted
 */
record Measurement(
    Key key, double nanos, int forks, OptionalDouble heapBytes, OptionalDouble faults) {

  /**
   * A rival in a setting.
   *
   * @param benchmark simple name of the benchmark's class
   * @param subject all its parameters but the rival, as {@code name=value}, by name, with commas
   * @param rival which
   * @param threads how many
   */
  record Key(String benchmark, String subject, Rival rival, int threads) {}

  /** The middle one, or half of what the two in the middle have together; empty for none. */
  static OptionalDouble median(double... values) {
    if (values.length == 0) {
      return OptionalDouble.empty();
    }
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    int half = sorted.length / 2;
    return OptionalDouble.of(
        sorted.length % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2);
  }
}
