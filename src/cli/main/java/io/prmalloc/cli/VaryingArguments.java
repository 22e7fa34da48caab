package io.prmalloc.cli;

import io.prmalloc.trace.Trace;
import io.prmalloc.trace.replay.FactorRange;
import io.prmalloc.trace.replay.Traffic;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/**
 * The arguments by which a replay varies.
 *
 * <p>Threading: one thread.
 */
final class VaryingArguments {

  private static final long DEFAULT_SEED = 1;

  @Option(
      names = "--vary",
      paramLabel = "A..B",
      converter = RangeWords.class,
      description =
          "All sizes of a step are multiplied by a factor from A to B, a new one in each step;"
              + " a size is 64 bytes at least. From 0 to 1000000, such as 0.25..1.")
  private FactorRange range;

  @Option(
      names = "--shapes",
      paramLabel = "N",
      description =
          "Only N factors, drawn once from --vary (default 0.25..1), in random order; from 1 to"
              + " 1000000.")
  private Integer shapes;

  @Option(
      names = "--weights",
      paramLabel = "W",
      split = ",",
      description =
          "How often each INPUT is picked, relative to the others: as many numbers as INPUTs,"
              + " with commas, such as 3,1. Default: all equally often.")
  private List<Double> weights;

  @Option(
      names = "--seed",
      paramLabel = "S",
      description =
          "What factors and INPUTs are drawn from; the same seed, the same steps. Default: 1.")
  private Long seed;

  VaryingArguments() {}

  /**
   * The first argument that makes the replay vary; empty if there is none.
   *
   * @param more the INPUTs beside the first
   */
  Optional<String> given(List<String> more) {
    if (range != null) {
      return Optional.of("--vary " + range);
    }
    if (shapes != null) {
      return Optional.of("--shapes " + shapes);
    }
    if (!more.isEmpty()) {
      return Optional.of("a second INPUT " + more.get(0));
    }
    return Optional.ofNullable(weights).map(some -> "--weights " + some);
  }

  /**
   * Checks that nothing is said that means nothing.
   *
   * @param more the INPUTs beside the first
   * @throws IllegalArgumentException if it is
   */
  void check(List<String> more) {
    if (shapes != null && shapes < 1) {
      throw new IllegalArgumentException(
          "shapes " + shapes + " is not from 1 to " + Traffic.MAX_SHAPES);
    }
    if (seed != null && given(more).isEmpty()) {
      throw new IllegalArgumentException(
          "--seed " + seed + " means nothing without --vary, --shapes or several INPUTs");
    }
  }

  /** What the traces become. */
  Traffic traffic(List<Trace> traces) {
    Optional<FactorRange> factors =
        range == null && shapes != null
            ? Optional.of(FactorRange.DEFAULT)
            : Optional.ofNullable(range);
    int drawn = shapes == null ? 0 : shapes;
    long from = seed == null ? DEFAULT_SEED : seed;
    return weights == null
        ? Traffic.of(traces, factors, drawn, from)
        : new Traffic(traces, weights, factors, drawn, from);
  }

  /** Reads a {@link FactorRange}. Threading: stateless. */
  static final class RangeWords implements ITypeConverter<FactorRange> {

    RangeWords() {}

    @Override
    public FactorRange convert(String words) {
      try {
        return FactorRange.parse(words);
      } catch (IllegalArgumentException refused) {
        throw new TypeConversionException(refused.getMessage());
      }
    }
  }
}
