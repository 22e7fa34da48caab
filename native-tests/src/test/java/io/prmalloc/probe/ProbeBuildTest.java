package io.prmalloc.probe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.io.TempDir;

/** The build script as on other machines, simulated by a search path of the test's own. */
@EnabledOnOs(value = OS.LINUX, disabledReason = "the C library is built on Linux only")
class ProbeBuildTest {

  @TempDir private Path directory;
  private Path programs;
  private Path output;

  @BeforeEach
  void makeMachineWithoutCompiler() throws IOException {
    programs = Files.createDirectory(directory.resolve("programs"));
    output = directory.resolve("output");
    for (String tool : new String[] {"mkdir", "rm"}) {
      addProgram(tool, "exec " + onPath(tool).orElseThrow() + " \"$@\"");
    }
  }

  private static Optional<Path> onPath(String program) {
    return Arrays.stream(System.getenv("PATH").split(File.pathSeparator, -1))
        .map(entry -> Path.of(entry, program))
        .filter(Files::isExecutable)
        .findFirst();
  }

  private void addProgram(String name, String script) throws IOException {
    Path program = Files.writeString(programs.resolve(name), "#!/bin/sh\n" + script + "\n");
    assertTrue(program.toFile().setExecutable(true));
  }

  private int build(String cc) throws IOException, InterruptedException {
    ProcessBuilder builder =
        new ProcessBuilder("/bin/sh", "src/test/c/build.sh", output.toString())
            .redirectErrorStream(true)
            .redirectOutput(directory.resolve("log").toFile());
    builder.environment().put("PATH", programs.toString());
    builder.environment().put("CC", cc);
    return builder.start().waitFor();
  }

  private ConditionEvaluationResult condition() {
    return NeedsProbe.Condition.evaluate("Linux", output);
  }

  @Test
  void shouldSkipWithReasonWhenThereIsNoCompiler() throws Exception {
    assertEquals(0, build("no-such-cc"));
    assertTrue(condition().isDisabled());
    String reason = condition().getReason().orElseThrow();
    assertTrue(reason.startsWith("there is no C compiler here"), reason);
    assertTrue(reason.contains("no-such-cc"), reason);
  }

  @Test
  void shouldSkipWithReasonWhenAJvmNeverSawTheLibrary() throws Exception {
    assertEquals(0, build(""));
    Process child =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Dprobe.directory=" + output,
                "-cp",
                System.getProperty("java.class.path"),
                ConditionSayer.class.getName())
            .redirectError(directory.resolve("log").toFile())
            .start();
    String said = new String(child.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, child.waitFor(), Files.readString(directory.resolve("log")));
    assertEquals("true " + Files.readString(output.resolve("no-library.txt")), said);
  }

  /** Says whether tests are skipped, and why. */
  static final class ConditionSayer {

    private ConditionSayer() {}

    public static void main(String[] arguments) {
      // Only what is the same for all tests is looked at, so there need not be one.
      ConditionEvaluationResult result =
          new NeedsProbe.Condition().evaluateExecutionCondition(null);
      System.out.println(result.isDisabled() + " " + result.getReason().orElseThrow());
    }
  }

  @Test
  void shouldFailWhenCompilerFails() throws Exception {
    addProgram("cc", "echo cc: broken; exit 3");
    assertEquals(3, build(""));
    assertEquals("cc: broken\n", Files.readString(directory.resolve("log")));
    assertThrows(IllegalStateException.class, this::condition);
  }

  @Test
  void shouldTakeCompilerOfTheEnvironmentWhenThereAreSeveral() throws Exception {
    addProgram("cc", "exit 3");
    addProgram("other", "[ \"$1\" = word ]");
    assertEquals(0, build("other word"));
    assertNotEquals(0, build("other"));
  }

  @Test
  void shouldTakeGccWhenThereIsNoCc() throws Exception {
    addProgram("gcc", "echo gcc $*");
    assertEquals(0, build(""));
    String log = Files.readString(directory.resolve("log"));
    assertTrue(log.startsWith("gcc -std=c11 -O2 -Wall -Wextra -Werror "), log);
  }

  @Test
  void shouldForgetOldLibraryWhenBuiltAgain() throws Exception {
    Files.createDirectory(output);
    Files.createFile(output.resolve("libprobe.so"));
    assertTrue(condition().getReason().orElseThrow().contains("is there"));
    assertEquals(0, build(""));
    assertFalse(Files.exists(output.resolve("libprobe.so")));
    assertTrue(condition().isDisabled());
  }

  @Test
  void shouldSkipWithReasonWhenTheSystemIsNotLinux() {
    ConditionEvaluationResult result = NeedsProbe.Condition.evaluate("Mac OS X", output);
    assertTrue(result.isDisabled());
    assertEquals(
        Optional.of("the C library is of Linux, and this is Mac OS X"), result.getReason());
  }
}
