package io.prmalloc.cli;

import java.time.Duration;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * Reads a time in seconds from a command line, to nanoseconds; the least that is not 0 is one.
 *
 * <p>Threading: stateless.
 */
final class Seconds implements ITypeConverter<Duration> {

  /** Some thirty years. */
  private static final double MAX = 1e9;

  @Override
  public Duration convert(String word) {
    double seconds = parse(word);
    if (!(seconds >= 0 && seconds <= MAX)) {
      throw new TypeConversionException(
          "`" + word + "` is not a number of seconds from 0 to 1000000000");
    }
    long nanos = Math.round(seconds * 1e9);
    return Duration.ofNanos(nanos == 0 && seconds > 0 ? 1 : nanos);
  }

  private static double parse(String word) {
    try {
      return Double.parseDouble(word);
    } catch (NumberFormatException noNumber) {
      return Double.NaN;
    }
  }
}
