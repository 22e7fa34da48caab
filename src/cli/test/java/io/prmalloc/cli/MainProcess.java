package io.prmalloc.cli;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The command line in a JVM of its own, with the options that the jar's manifest gives it, and
 * others with which a short run takes less time.
 */
final class MainProcess {

  private MainProcess() {}

  /** A process to be started. */
  static ProcessBuilder of(String... words) {
    return of(List.of(), words);
  }

  /** A process to be started, with further options of its JVM. */
  static ProcessBuilder of(List<String> options, String... words) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("-XX:TieredStopAtLevel=1");
    command.add("-XX:+UseSerialGC");
    command.add("--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED");
    command.add("--enable-native-access=ALL-UNNAMED");
    command.addAll(options);
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), Main.class.getName()));
    command.addAll(Arrays.asList(words));
    return new ProcessBuilder(command);
  }
}
