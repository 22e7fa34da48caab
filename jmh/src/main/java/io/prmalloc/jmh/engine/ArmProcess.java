package io.prmalloc.jmh.engine;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.prmalloc.jmh.ChildJava;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
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
    // The serial collector keeps no tables beside the heap that grow.
    List<String> command =
        ChildJava.command(
            ArmMain.class, heapMebibytes, "-XX:+UseSerialGC", "-XX:MaxDirectMemorySize=4g");
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
}
