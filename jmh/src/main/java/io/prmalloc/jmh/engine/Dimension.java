package io.prmalloc.jmh.engine;

import java.util.Map;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One dimension of an input: a number, or a range of them.
 *
 * <p>Threading: immutable.
 *
 * @param name equal for dimensions of a model that are drawn once for all, such as the length of
 *     tokens and of their mask; empty for one that is drawn by itself
 * @param least from 1
 * @param most from {@code least}
 * @param step from one to the next, from 1
 */
record Dimension(String name, int least, int most, int step) {

  private static final int MOST = 1_000_000_000;

  /** Names are in capitals, so that the letter between dimensions is never part of one. */
  private static final Pattern SYNTAX =
      Pattern.compile("(?:([A-Z][A-Z0-9]*):)?([0-9]+)(?:\\.\\.([0-9]+)(?:/([0-9]+))?)?");

  /**
   * Reads {@code 3}, {@code 128..640}, {@code 128..640/32} or {@code L:16..128}.
   *
   * @param where it stands, for messages
   * @throws IllegalArgumentException if it is none of these
   */
  static Dimension of(String where, String text) {
    Matcher matcher = SYNTAX.matcher(text);
    if (!matcher.matches()) {
      throw new IllegalArgumentException(
          where + " has `" + text + "`, not N, LEAST..MOST or LEAST..MOST/STEP");
    }
    int least = number(where, text, matcher.group(2), 1);
    int most = matcher.group(3) == null ? least : number(where, text, matcher.group(3), least);
    int step = matcher.group(4) == null ? 1 : number(where, text, matcher.group(4), 1);
    return new Dimension(matcher.group(1) == null ? "" : matcher.group(1), least, most, step);
  }

  private static int number(String where, String text, String value, int least) {
    return (int) Numbers.of("in " + where + " a number of `" + text + "`", value, least, MOST);
  }

  /**
   * One of its numbers, all as likely.
   *
   * @param drawn what was drawn for dimensions with names; is added to
   */
  long draw(Random random, Map<String, Long> drawn) {
    if (name.isEmpty()) {
      return draw(random);
    }
    return drawn.computeIfAbsent(name, fresh -> draw(random));
  }

  private long draw(Random random) {
    return least + (long) step * random.nextInt((most - least) / step + 1);
  }
}
