package io.prmalloc.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The code on the page {@code docs/ffm.md}, compiled by the test at run time because this module is
 * built for 17.
 */
class FfmPageTest {

  private static final int SINCE = 22;

  private static final String IMPORTS =
      """
      import io.prmalloc.Allocation;
      import io.prmalloc.pool.TensorPoolAllocator;
      import java.lang.foreign.Arena;
      import java.lang.foreign.MemorySegment;
      import java.lang.foreign.SegmentAllocator;
      import java.lang.foreign.ValueLayout;
      """;

  @TempDir private Path directory;

  @BeforeEach
  void needsForeignMemory() {
    Runtime.Version version = Runtime.version();
    assumeTrue(
        version.feature() >= SINCE,
        "java.lang.foreign needs JDK " + SINCE + " or later, this is " + version);
  }

  @Test
  void shouldPrintWhatThePageSaysWhenASegmentLiesOverAnAllocation() throws Exception {
    GuidePage page = GuidePage.of("ffm.md");
    assertEquals(
        List.of("4096 1.5"), GuidePage.linesOf(IMPORTS, page.blocks("java").get(0), directory));
  }

  @Test
  void shouldPrintWhatThePageSaysWhenThePoolIsASegmentAllocator() throws Exception {
    GuidePage page = GuidePage.of("ffm.md");
    List<String> code = page.blocks("java");
    // The helper goes behind the main method, which linesOf closes.
    String statements = code.get(1) + "  }\n" + code.get(2) + "  static void end() {\n";
    assertEquals(List.of("0.75 8", "false 0"), GuidePage.linesOf(IMPORTS, statements, directory));
  }

  @Test
  void shouldGiveTheMemoryBackWhenTheArenaTakesNoSegment() throws Exception {
    String use =
        """
        try (TensorPoolAllocator pool = TensorPoolAllocator.builder().build()) {
          Arena closed = Arena.ofConfined();
          closed.close();
          Arena[] others = {null};
          Thread other = new Thread(() -> others[0] = Arena.ofConfined());
          other.start();
          other.join();
          for (Arena arena : new Arena[] {closed, others[0]}) {
            try {
              scoped(pool.allocate(4096), arena);
              System.out.println("no exception");
            } catch (IllegalStateException | WrongThreadException e) {
              System.out.println(pool.stats().bytesInUse());
            }
          }
        }
        """;
    String method = GuidePage.of("ffm.md").blocks("java").get(2);
    String statements = use + "  }\n" + method + "  static void end() {\n";
    assertEquals(List.of("0", "0"), GuidePage.linesOf(IMPORTS, statements, directory));
  }

  @Test
  void shouldPrintWhatThePageSaysWhenASegmentIsLargerThanABuffer() throws Exception {
    GuidePage page = GuidePage.of("ffm.md");
    List<String> code = page.blocks("java");
    String statements = code.get(3) + "  }\n" + code.get(2) + "  static void end() {\n";
    assertEquals(List.of("5368709120 7"), GuidePage.linesOf(IMPORTS, statements, directory));
  }
}
