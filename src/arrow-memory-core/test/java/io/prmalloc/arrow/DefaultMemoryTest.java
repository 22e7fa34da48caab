package io.prmalloc.arrow;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertLinesMatch;

import io.prmalloc.internal.os.ChildJvm;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Which memory a {@code RootAllocator} gets by default, in JVMs of their own. Arrow's own memory
 * module is on the class path as well.
 */
class DefaultMemoryTest {

  @TempDir private Path directory;

  private String output(Class<?> main, String... arguments) throws Exception {
    ChildJvm child = new ChildJvm(directory).flags("--add-opens", "java.base/java.nio=ALL-UNNAMED");
    ChildJvm.Result result = child.run(main, arguments);
    assertEquals(0, result.exitCode(), result.errors());
    return result.output();
  }

  @Test
  void shouldBeOursWhenNothingIsTold() throws Exception {
    assertEquals("1024 0", output(RootMain.class));
  }

  /** Arrow and the library read their properties once in a class loader, so each has its own. */
  @Test
  void shouldBeEachOnesOwnUnlessArrowIsToldOtherwise() throws Exception {
    String lines =
        output(
            LoadersMain.class,
            "prmalloc.allocator=tensorpool_cpu",
            "prmalloc.allocator=cpu",
            "arrow.allocation.manager.type=Unknown",
            "arrow.allocation.manager.type=Unsafe");
    assertLinesMatch(List.of("1024 0", "1024 0", "1024 0", "0 0"), lines.lines().toList());
  }
}
