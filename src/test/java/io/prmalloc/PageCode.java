package io.prmalloc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Compares the Java code on a page of the documentation with the code of tests. What a test shows
 * on a page lies between the lines {@code // page} and {@code // end of page}.
 */
public final class PageCode {

  private PageCode() {}

  /**
   * Checks that the page's Java blocks are those of the test classes, in that order.
   *
   * @param page a file of {@code docs}
   * @param tests whose sources hold the code
   */
  public static void check(String page, Class<?>... tests) throws IOException {
    List<String> wanted = new ArrayList<>();
    for (Class<?> test : tests) {
      Path source = Path.of("test/java", test.getName().replace('.', '/') + ".java");
      wanted.addAll(between(Files.readAllLines(source), "// page", "// end of page"));
    }
    assertFalse(wanted.isEmpty(), "nothing to show");
    List<String> shown = between(Files.readAllLines(Path.of("../docs", page)), "```java", "```");
    assertEquals(String.join("\n--\n", wanted), String.join("\n--\n", shown), page);
  }

  /** The stretches between lines that say, but for indentation, begin and end. */
  private static List<String> between(List<String> lines, String begin, String end) {
    List<String> stretches = new ArrayList<>();
    StringBuilder stretch = null;
    for (String line : lines) {
      if (stretch == null) {
        stretch = line.strip().equals(begin) ? new StringBuilder() : null;
      } else if (line.strip().equals(end)) {
        // A last line without content would count as one without indentation.
        stretches.add(stretch.toString().stripTrailing().stripIndent());
        stretch = null;
      } else {
        stretch.append(line).append('\n');
      }
    }
    return stretches;
  }
}
