package io.prmalloc.arrow;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.prmalloc.internal.os.ChildJvm;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which memory a {@code RootAllocator} gets by default, in JVMs of their own. */
class DefaultMemoryTest {

  @TempDir private Path directory;

  /** Arrow's own memory module is on the class path as well. */
  @ParameterizedTest
  @CsvSource({
    "prmalloc.allocator=tensorpool_cpu,1024 0", // as without
    "prmalloc.allocator=cpu,1024 0",
    "arrow.allocation.manager.type=Unknown,1024 0",
    "arrow.allocation.manager.type=Unsafe,0 0"
  })
  void shouldBeOursUnlessArrowIsToldOtherwise(String property, String bytes) throws Exception {
    ChildJvm child =
        new ChildJvm(directory)
            .flags("--add-opens", "java.base/java.nio=ALL-UNNAMED", "-D" + property);
    ChildJvm.Result result = child.run(RootMain.class);
    assertEquals(0, result.exitCode(), result.errors());
    assertEquals(bytes, result.output());
  }

  @Test
  void shouldBeEachOnesOwnInTwoClassLoaders() throws Exception {
    ChildJvm child = new ChildJvm(directory).flags("--add-opens", "java.base/java.nio=ALL-UNNAMED");
    ChildJvm.Result result = child.run(LoadersMain.class);
    assertEquals(0, result.exitCode(), result.errors());
    assertEquals("1024 0 1024 0 ", result.output());
  }
}
