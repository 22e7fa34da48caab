package io.prmalloc.trace;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Numbers as people and tools write them in traces.
 *
 * <p>Threading: stateless.
 */
public final class TextNumbers {

  // KB and MB are not taken: to some they are 1000 and 1000 000.
  private static final Pattern UNIT =
      Pattern.compile(
          "([0-9]+|0[xX][0-9a-fA-F]+) ?(?:([KMGT])(?:IB)?|B)", Pattern.CASE_INSENSITIVE);
  private static final Pattern HEXADECIMAL = Pattern.compile("0[xX][0-9a-fA-F]+");
  private static final String UNITS = "KMGT";

  private TextNumbers() {}

  /** Whether a text is a hexadecimal number: {@code 0x1F}. Threading: any thread. */
  static boolean isHexadecimal(String text) {
    return text.length() > 2 && text.charAt(0) == '0' && HEXADECIMAL.matcher(text).matches();
  }

  /**
   * A whole number, decimal or hexadecimal ({@code 0x1F}).
   *
   * <p>Threading: any thread.
   *
   * @throws NumberFormatException if it is none that fits 64 bits with a sign
   */
  static long whole(String text) {
    return isHexadecimal(text) ? Long.parseLong(text.substring(2), 16) : Long.parseLong(text);
  }

  private static boolean endsInDigit(String text) {
    char last = text.isEmpty() ? ' ' : text.charAt(text.length() - 1);
    return last >= '0' && last <= '9';
  }

  /**
   * A whole number of bytes: as {@link #whole} has it, or with a unit: {@code 64B}, {@code 4K},
   * {@code 2MiB}, {@code 1g}; K, M, G and T are powers of 1024, with or without {@code iB}.
   *
   * <p>Threading: any thread.
   *
   * @throws NumberFormatException if it is none that fits 64 bits with a sign
   */
  public static long bytes(String text) {
    // Traces have millions of numbers, and nearly all are plain: no pattern is needed to see that.
    if (endsInDigit(text) && !isHexadecimal(text)) {
      return Long.parseLong(text);
    }
    // What a hexadecimal number ends with may look like a unit.
    Matcher matcher = UNIT.matcher(text);
    if (isHexadecimal(text) || !matcher.matches()) {
      return whole(text);
    }
    long number = whole(matcher.group(1));
    String unit = matcher.group(2);
    int shift = unit == null ? 0 : 10 * (1 + UNITS.indexOf(unit.toUpperCase(Locale.ROOT)));
    if (number > Long.MAX_VALUE >> shift) {
      throw new NumberFormatException(text + " is over 2^63 - 1");
    }
    return number << shift;
  }
}
