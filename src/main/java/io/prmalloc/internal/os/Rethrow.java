package io.prmalloc.internal.os;

/**
 * Rethrows what a method handle threw, which the compiler takes to be any throwable.
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
