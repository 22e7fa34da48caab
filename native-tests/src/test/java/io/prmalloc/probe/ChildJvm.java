package io.prmalloc.probe;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A JVM of its own, for what can be measured only once in a process. It has the Java, the flags and
 * the class path of this one.
 *
 * <p>Threading: stateless.
 */
final class ChildJvm {

  private ChildJvm() {}

  /**
   * Runs a class's main method to its end.
   *
   * @param directory where the child's output is kept while it runs
   * @param environment is added to this process's
   * @return what it wrote to standard output
   */
  static String run(
      Path directory, Map<String, String> environment, Class<?> main, String... arguments)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    for (String flag : ManagementFactory.getRuntimeMXBean().getInputArguments()) {
      // A debugger's port or an agent's file is for one JVM alone.
      if (!flag.startsWith("-agent") && !flag.startsWith("-javaagent")) {
        command.add(flag);
      }
    }
    command.add("-Dprobe.directory=" + NeedsProbe.DIRECTORY);
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
    command.addAll(List.of(arguments));
    Path output = directory.resolve("stdout");
    Path errors = directory.resolve("stderr");
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectOutput(output.toFile()).redirectError(errors.toFile());
    builder.environment().putAll(environment);
    int exitCode = builder.start().waitFor();
    assertEquals(0, exitCode, () -> text(errors));
    return text(output);
  }

  private static String text(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      return e.toString();
    }
  }
}
