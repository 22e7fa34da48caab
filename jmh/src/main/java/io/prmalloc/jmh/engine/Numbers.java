package io.prmalloc.jmh.engine;

/**
 * Whole numbers in arguments.
 *
 * <p>Threading: immutable.
 */
final class Numbers {

  private Numbers() {}

  /**
   * Reads a number.
   *
   * @param what it is called in the message
   * @throws IllegalArgumentException if it is not one of these
   */
  static long of(String what, String value, long least, long most) {
    // Eighteen digits are never too many for a long.
    if (value.matches("-?[0-9]{1,18}")) {
      long number = Long.parseLong(value);
      if (number >= least && number <= most) {
        return number;
      }
    }
    throw new IllegalArgumentException(what + " is `" + value + "`, not " + least + " to " + most);
  }
}
