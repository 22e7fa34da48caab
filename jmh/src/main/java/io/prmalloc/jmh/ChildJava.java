package io.prmalloc.jmh;

import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * How to start a JVM whose memory is measured by itself: with this one's Java and class path, and
 * with its {@code -XX} flags, as JMH starts its forks.
 *
 * <p>Threading: stateless.
 */
public final class ChildJava {

  private ChildJava() {}

  private static boolean isCollector(String flag) {
    return flag.matches("-XX:[+-]Use\\w+GC");
  }

  /**
   * The command without the arguments of the main class.
   *
   * @param heapMebibytes of a heap that is all in memory from the start, so that what comes and
   *     goes is not Java's
   * @param flags for it besides; if one chooses a collector, this JVM's is not passed on
   * @return may be added to
   */
  public static List<String> command(Class<?> main, int heapMebibytes, String... flags) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    // A second collector would be one too many.
    boolean choosesCollector = Arrays.stream(flags).anyMatch(ChildJava::isCollector);
    for (String flag : ManagementFactory.getRuntimeMXBean().getInputArguments()) {
      if (flag.startsWith("-XX:") && !(choosesCollector && isCollector(flag))) {
        command.add(flag);
      }
    }
    command.add("-Xms" + heapMebibytes + "m");
    command.add("-Xmx" + heapMebibytes + "m");
    command.add("-XX:+AlwaysPreTouch");
    command.addAll(List.of(flags));
    // What the jar's manifest says, which is read of the jar that -jar names only.
    command.add("--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED");
    if (Runtime.version().feature() >= 22) {
      command.add("--enable-native-access=ALL-UNNAMED");
    }
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
    return command;
  }
}
