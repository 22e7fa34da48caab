package io.prmalloc.jmh.engine;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * An arm in a JVM of its own, so that its memory can be measured by itself.
 *
 * <p>Threading: one thread.
 */
final class ArmProcess {

  private ArmProcess() {}

  /**
   * Runs an arm to its end.
   *
   * @param heapMebibytes of its JVM
   * @param workload its arguments
   * @throws IllegalArgumentException if the process says that an argument is not right
   * @throws IOException if it fails
   */
  static Measured run(Arm arm, int heapMebibytes, List<String> workload) throws IOException {
    List<String> command = command(heapMebibytes);
    command.add(arm.name());
    command.addAll(workload);
    Process process =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    try {
      process.getOutputStream().close();
      String said =
          new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
      int exitCode = process.waitFor();
      // Whatever a library prints comes before it.
      String last = said.substring(said.lastIndexOf('\n') + 1);
      if (exitCode == ArmMain.USAGE_ERROR) {
        throw new IllegalArgumentException(last);
      }
      if (exitCode != 0) {
        throw new IOException("the process ended with " + exitCode + ": " + last);
      }
      return new ObjectMapper().readValue(last, Measured.class);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    } finally {
      process.destroyForcibly();
    }
  }

  private static List<String> command(int heapMebibytes) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    // A heap that is all in memory from the start: what comes and goes is not Java's. The serial
    // collector keeps no tables beside it that grow.
    command.add("-Xms" + heapMebibytes + "m");
    command.add("-Xmx" + heapMebibytes + "m");
    command.addAll(List.of("-XX:+AlwaysPreTouch", "-XX:+UseSerialGC"));
    command.add("-XX:MaxDirectMemorySize=4g");
    // What the jar's manifest says, which is read of the jar that -jar names only.
    command.add("--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED");
    if (Runtime.version().feature() >= 22) {
      command.add("--enable-native-access=ALL-UNNAMED");
    }
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.add(ArmMain.class.getName());
    return command;
  }
}
