package io.prmalloc.model;

/**
 * Numbers of things, for people: {@code 1 value}, {@code 2 values}.
 *
 * <p>Threading: stateless.
 */
public final class Counted {

  private Counted() {}

  /**
   * The number with its word.
   *
   * <p>Threading: any thread.
   *
   * @param one the word for one of them; that for more ends in an s
   */
  public static String of(long count, String one) {
    return count + " " + (count == 1 ? one : one + "s");
  }
}
