package io.prmalloc.internal.block;

/**
 * Collects the failures of several actions that must all run although some fail. The first failure
 * is thrown in the end, with the later ones as suppressed exceptions.
 *
 * <p>Threading: stateless.
 */
public final class Failures {

  private Failures() {}

  /** The first failure, or the next if there was none before. */
  public static Throwable join(Throwable first, Throwable next) {
    if (first == null) {
      return next;
    }
    if (first != next) {
      first.addSuppressed(next);
    }
    return first;
  }

  /**
   * Throws a failure as it is; does nothing for null. Code of users may throw checked exceptions
   * that it does not declare: other languages for the JVM have no such rule.
   */
  public static void throwIfAny(Throwable failure) {
    if (failure != null) {
      Failures.<RuntimeException>sneak(failure);
    }
  }

  @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"}) // what is thrown is not checked
  private static <T extends Throwable> void sneak(Throwable failure) throws T {
    throw (T) failure;
  }
}
