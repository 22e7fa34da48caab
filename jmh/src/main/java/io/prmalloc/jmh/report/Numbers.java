package io.prmalloc.jmh.report;

import java.util.Locale;

/**
 * Numbers as people read them, with three digits or so.
 *
 * <p>Threading: any thread.
 */
final class Numbers {

  private static final String[] TIME_UNITS = {"ns", "µs", "ms", "s"};

  private Numbers() {}

  /** Such as {@code 0.42}, {@code 7.35}, {@code 42.4}, {@code 421} and {@code 41,700}. */
  static String plain(double value) {
    double size = Math.abs(value);
    String format = size >= 99.95 ? "%,.0f" : size >= 9.995 ? "%.1f" : "%.2f";
    double shown = size >= 9_995 ? Math.rint(value / 100) * 100 : value;
    return String.format(Locale.ROOT, format, shown);
  }

  /** A time in the unit that suits it: {@code 7.35 ns}, {@code 41.7 µs}. */
  static String time(double nanos) {
    int unit = 0;
    double value = nanos;
    while (value >= 999.5 && unit < TIME_UNITS.length - 1) {
      value /= 1_000;
      unit++;
    }
    return plain(value) + " " + TIME_UNITS[unit];
  }
}
