package io.prmalloc.jmh.engine;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * The shapes that an input of a model may have.
 *
 * <p>Threading: immutable.
 *
 * @param input its name
 * @param dimensions from the first to the last
 */
record InputShape(String input, List<Dimension> dimensions) {

  /**
   * Reads {@code INPUT=1x3x128..640/32x128..640/32}.
   *
   * @param option for messages
   * @throws IllegalArgumentException if it is not understood
   */
  static InputShape of(String option, String text) {
    int equals = text.lastIndexOf('=');
    if (equals < 1) {
      throw new IllegalArgumentException(
          option + " is `" + text + "`, not an input's name, `=` and its dimensions");
    }
    String where = option + " " + text;
    return new InputShape(
        text.substring(0, equals),
        Arrays.stream(text.substring(equals + 1).split("x", -1))
            .map(each -> Dimension.of(where, each))
            .toList());
  }

  /** One of its shapes; {@code drawn} as in {@link Dimension#draw}. */
  long[] draw(Random random, Map<String, Long> drawn) {
    return dimensions.stream().mapToLong(each -> each.draw(random, drawn)).toArray();
  }
}
