package io.prmalloc.internal.os;

/**
 * What to do with what a method handle throws, for the compiler believes that it may throw
 * anything.
 *
 * <p>Threading: any thread.
 */
final class Rethrow {

  private Rethrow() {}

  /**
   * Throws an unchecked throwable as it is.
   *
   * @return a wrapper around a checked one, to be thrown
   */
  static IllegalStateException unchecked(Throwable thrown) {
    if (thrown instanceof RuntimeException exception) {
      throw exception;
    }
    if (thrown instanceof Error error) {
      throw error;
    }
    return new IllegalStateException("unexpected " + thrown, thrown);
  }
}
