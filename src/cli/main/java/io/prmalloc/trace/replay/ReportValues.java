package io.prmalloc.trace.replay;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.Locale;

/**
 * How the reports of replays write values.
 *
 * <p>Threading: stateless.
 */
final class ReportValues {

  private ReportValues() {}

  /** To three decimals. */
  static BigDecimal rounded(double value) {
    return BigDecimal.valueOf(value).setScale(3, RoundingMode.HALF_UP);
  }

  /** As it is typed on the command line. */
  static String label(Enum<?> option) {
    return option.name().toLowerCase(Locale.ROOT);
  }
}
