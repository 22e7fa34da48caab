package io.prmalloc.trace.replay;

/**
 * The range of factors by which the sizes of steps vary.
 *
 * <p>Threading: immutable.
 *
 * @param from the least, from 0
 * @param to the largest, from {@code from} to {@link #MAX_FACTOR}
 */
public record FactorRange(double from, double to) {

  /** The largest factor. */
  public static final double MAX_FACTOR = 1e6;

  /** From a quarter of the trace's sizes to those. */
  public static final FactorRange DEFAULT = new FactorRange(0.25, 1);

  private static final String DOTS = "..";

  /**
   * Threading: any thread.
   *
   * @throws IllegalArgumentException if a factor is out of its bounds
   */
  public FactorRange {
    if (!(from >= 0 && to <= MAX_FACTOR)) {
      throw new IllegalArgumentException(
          "factors " + from + DOTS + to + " are not all from 0 to " + (long) MAX_FACTOR);
    }
    if (from > to) {
      throw new IllegalArgumentException(
          "factors " + from + DOTS + to + ": the first exceeds the second");
    }
  }

  /**
   * Reads {@code A..B}, or {@code A} for {@code A..A}.
   *
   * <p>Threading: any thread.
   *
   * @throws IllegalArgumentException if the text is neither, or a factor is out of its bounds
   */
  public static FactorRange parse(String text) {
    int dots = text.indexOf(DOTS);
    try {
      double from = Double.parseDouble(dots < 0 ? text : text.substring(0, dots));
      double to = dots < 0 ? from : Double.parseDouble(text.substring(dots + DOTS.length()));
      return new FactorRange(from, to);
    } catch (NumberFormatException notNumbers) {
      throw new IllegalArgumentException(
          "`" + text + "` is not A..B with numbers from 0 to " + (long) MAX_FACTOR, notNumbers);
    }
  }

  /** As it is typed. Threading: any thread. */
  @Override
  public String toString() {
    return from + DOTS + to;
  }

  /** The factor that lies so far from the first to the last. */
  double at(double fraction) {
    return from + (to - from) * fraction;
  }
}
