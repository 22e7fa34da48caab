package io.prmalloc.onnxruntime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.internal.os.ChildJvm;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The pool inside ONNX Runtime, in JVMs of their own without any flag. The long form, over several
 * versions of the engine, is {@code mvn -Pengine -pl src test}.
 */
class EngineChildTest {

  private static final String RUNS = System.getProperty("engine.runs", "150");

  /** Where jars of other versions are. */
  private static final String JARS = System.getProperty("engine.jars", "");

  @TempDir private Path directory;

  private void check(ChildJvm child, String... arguments) throws Exception {
    ChildJvm.Result result = child.inDirectory().run(EngineScenarios.class, arguments);
    String all = result.output() + "\n" + result.errors();
    assertEquals(0, result.exitCode(), all);
    assertEquals("done", result.output(), all);
    try (Stream<Path> left = Files.list(directory)) {
      assertEquals(List.of(), left.filter(f -> f.toString().contains("hs_err")).toList());
    }
  }

  @Test
  void shouldEndAsEverWhenNothingWasClosed() throws Exception {
    check(new ChildJvm(directory), "exit");
  }

  @ParameterizedTest
  @ValueSource(strings = {"allocator at exit", "arena at exit"})
  void shouldEndAsEverWhenClosedAfterTheEnvironmentIsGone(String scenario) throws Exception {
    check(new ChildJvm(directory), scenario);
  }

  @Test
  void shouldKeepNothingWhenItRunsForLong() throws Exception {
    check(new ChildJvm(directory).flags("-Xmx128m"), "long", RUNS);
  }

  @ParameterizedTest
  @ValueSource(strings = {"too large", "strings"})
  void shouldEndTheRunWhateverTheSizeOfWhatIsRefused(String scenario) throws Exception {
    check(new ChildJvm(directory), scenario);
  }

  static Stream<String> jars() throws Exception {
    if (JARS.isEmpty()) {
      return Stream.of("");
    }
    try (Stream<Path> all = Files.list(Path.of(JARS))) {
      List<String> jars = all.map(jar -> jar.toAbsolutePath().toString()).sorted().toList();
      assertTrue(jars.size() > 1, JARS + " holds " + jars);
      return jars.stream();
    }
  }

  @ParameterizedTest
  @MethodSource("jars")
  void shouldGiveTheSameBitsAndKeepTheLimitWhicheverTheVersion(String jar) throws Exception {
    // 1.29 matches the command line against a pattern, one frame of the stack for each character.
    ChildJvm child = new ChildJvm(directory).flags("-Xss16m");
    if (!jar.isEmpty()) {
      child.flags("-cp", jar + File.pathSeparator + System.getProperty("java.class.path"));
    }
    check(child, "all");
  }
}
