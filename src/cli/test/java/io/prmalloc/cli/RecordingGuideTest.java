package io.prmalloc.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The code and commands on the page {@code docs/recording.md}, and the output that it shows. */
class RecordingGuideTest {

  private static final String IMPORTS =
      """
      import io.prmalloc.Allocation;
      import io.prmalloc.lifetime.ScopedMemoryCollector;
      import io.prmalloc.pool.LeakDetection;
      import io.prmalloc.pool.TensorPoolAllocator;
      import io.prmalloc.recording.Recording;
      import io.prmalloc.recording.RecordingOptions;
      import java.nio.file.Path;
      """;

  @TempDir private Path directory;

  private List<String> print(GuidePage page, int block) throws Exception {
    String path = directory.toString().replace("\\", "\\\\");
    String prefix = "    Path directory = Path.of(\"" + path + "\");\n";
    return GuidePage.linesOf(IMPORTS, prefix + page.blocks("java").get(block), directory);
  }

  @Test
  void shouldRecordAndConvertAsThePageSays() throws Exception {
    GuidePage page = GuidePage.of("recording.md");

    assertEquals(List.of("18 CLOSED"), print(page, 0));
    assertTrue(page.text().contains("It prints 18 CLOSED:"));
    Path events = directory.resolve("server.ev");
    Map<String, Path> files =
        Map.of("server.rec", directory.resolve("server.rec"), "server.ev", events);
    assertEquals(3, page.commands().size());
    for (String command : page.commands()) {
      GuidePage.run(command, files);
    }
    assertEquals(12, Files.readAllLines(events).size());
  }

  @Test
  void shouldFindTheLeakOfThePage() throws Exception {
    Logger logger = Logger.getLogger("io.prmalloc.leak");
    logger.setLevel(Level.OFF);
    try {
      GuidePage page = GuidePage.of("recording.md");
      assertEquals(List.of("1000 STEP_ENDED", "1"), print(page, 1));
      assertTrue(page.text().contains("It prints 1000 STEP_ENDED and 1."));
    } finally {
      logger.setLevel(null);
    }
  }
}
