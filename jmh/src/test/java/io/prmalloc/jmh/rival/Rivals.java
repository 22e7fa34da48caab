package io.prmalloc.jmh.rival;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.Optional;

/**
 * Shared code of the tests of all rivals.
 *
 * <p>Threading: any thread.
 */
public final class Rivals {

  private Rivals() {}

  /** Skips the test where the rival is not to be had, and says why. */
  public static void assumePresent(Rival rival) {
    Optional<String> missing = rival.missing();
    assumeTrue(missing.isEmpty(), () -> rival + ": " + missing.orElseThrow());
  }
}
