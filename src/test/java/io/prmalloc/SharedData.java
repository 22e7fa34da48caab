package io.prmalloc;

import static org.junit.jupiter.api.Assumptions.abort;

import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Finds the reference data beside the repository, in {@code shared/data} of a directory above this
 * one. Tests that need it are skipped where it is absent.
 *
 * <p>Threading: any thread.
 */
public final class SharedData {

  private SharedData() {}

  /**
   * Threading: any thread.
   *
   * @param relative a path inside {@code shared/data}
   * @return the file or directory; if it is not there the test is skipped
   */
  public static Path path(String relative) {
    for (Path above = Path.of("").toAbsolutePath(); above != null; above = above.getParent()) {
      Path found = above.resolve("shared").resolve("data").resolve(relative);
      if (Files.exists(found)) {
        return found;
      }
    }
    return abort("shared/data/" + relative + " is in no directory above this one");
  }
}
