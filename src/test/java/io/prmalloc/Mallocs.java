package io.prmalloc;

import static org.junit.jupiter.api.Assumptions.abort;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * Finds the malloc libraries on this machine. Tests of a library that is absent are skipped, and
 * say why.
 *
 * <p>Threading: any thread.
 */
public final class Mallocs {

  private Mallocs() {}

  /** Skips the test where the C library is out of reach. */
  public static void assumeCLibrary() {
    assumeTrue(
        System.getProperty("os.name").equals("Linux"), "posix_memalign is called on Linux only");
  }

  /** Skips the test where a library is not installed or cannot be loaded. */
  public static void assumeLibrary(String name) {
    assumeCLibrary();
    try {
      SubAllocator.malloc(name);
    } catch (UnsupportedOperationException absent) {
      abort(absent.getMessage());
    }
  }
}
