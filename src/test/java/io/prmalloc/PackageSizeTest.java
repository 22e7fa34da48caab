package io.prmalloc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The sources of all modules, tests too. */
@Tag("jdk-independent")
class PackageSizeTest {

  private static final int MOST_FILES = 30;

  private static boolean isSource(Path file) {
    String name = file.toString();
    return name.endsWith(".java") && !name.contains("/target/");
  }

  /** Nobody finds a class among more. */
  @Test
  void shouldHaveThirtyFilesAtMostInAPackage() throws Exception {
    Map<Path, Long> files = new TreeMap<>();
    for (String module : new String[] {"src", "native-tests", "jmh"}) {
      try (Stream<Path> all = Files.walk(Path.of("..", module))) {
        files.putAll(
            all.filter(PackageSizeTest::isSource)
                .collect(Collectors.groupingBy(Path::getParent, Collectors.counting())));
      }
    }
    assertTrue(files.size() > 50, files::toString);
    files.values().removeIf(count -> count <= MOST_FILES);
    assertEquals(Map.of(), files);
  }
}
