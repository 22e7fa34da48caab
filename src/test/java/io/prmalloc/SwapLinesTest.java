package io.prmalloc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The number of lines that a change to our allocator takes: the table in {@code docs/guide.md}. */
class SwapLinesTest {

  private static final int MOST = 10;

  /**
   * A row: the page, which of its Java blocks are the swap, and how many of their lines are ours.
   */
  private static final Pattern ROW =
      Pattern.compile("^\\| \\[[^]]+]\\((\\S+\\.md)[^)]*\\)[^|]*\\| ([0-9, ]+) \\| ([0-9]+) \\|$");

  private static final Pattern BLOCK = Pattern.compile("(?ms)^```java\\n(.*?)^```");

  /** What a line of the swap names: types of ours, or what the page calls an object of ours. */
  private static final Pattern OURS =
      Pattern.compile(
          "\\b(pool|buffers|scoped|allocation|image|inference|engine|run|TensorPool\\w*"
              + "|Prmalloc\\w*|PooledNDArray|OnnxModel|OrtEnvironmentAllocator|EngineRun)\\b");

  @Test
  void shouldTakeTenLinesAtMostForEachAdapter() throws IOException {
    List<String> rows =
        Files.readAllLines(Path.of("../docs/guide.md")).stream()
            .filter(line -> ROW.matcher(line).matches())
            .toList();
    assertEquals(7, rows.size(), rows::toString);
    for (String row : rows) {
      MatchResult parts = ROW.matcher(row).results().findFirst().orElseThrow();
      String page = Files.readString(Path.of("../docs", parts.group(1)));
      List<String> blocks = BLOCK.matcher(page).results().map(block -> block.group(1)).toList();
      long lines =
          Arrays.stream(parts.group(2).split(", "))
              .map(number -> blocks.get(Integer.parseInt(number) - 1))
              .flatMap(String::lines)
              .filter(line -> OURS.matcher(line).find())
              .count();
      assertEquals(parts.group(3), String.valueOf(lines), row);
      assertTrue(lines <= MOST, row);
    }
  }
}
