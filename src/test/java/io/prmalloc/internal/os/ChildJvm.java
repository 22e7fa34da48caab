package io.prmalloc.internal.os;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A JVM of its own for tests that this JVM cannot run: without the flag, with other limits, or with
 * a broken JNA. It has this JVM's Java and class path, and none of its flags. It compiles with C1
 * and collects with one thread, which starts and ends sooner, unless {@link #withC2} is called.
 */
public final class ChildJvm {

  /** How a child ended and what it wrote. */
  public record Result(int exitCode, String output, String errors) {}

  private final Path directory;
  private final List<String> prefix = new ArrayList<>();
  private final List<String> flags = new ArrayList<>();
  private boolean inDirectory;
  private boolean withC2;

  /**
   * @param directory where the child's output is kept while it runs
   */
  public ChildJvm(Path directory) {
    this.directory = directory;
  }

  /** Adds flags of the JVM. */
  public ChildJvm flags(String... more) {
    flags.addAll(List.of(more));
    return this;
  }

  /** Lets the child run in the directory of its output, so that the files it leaves are there. */
  public ChildJvm inDirectory() {
    inDirectory = true;
    return this;
  }

  /** Lets the child compile and collect as a JVM does by default. */
  public ChildJvm withC2() {
    withC2 = true;
    return this;
  }

  /** Lets the child map no more than so many bytes of address space. */
  public ChildJvm addressSpaceBytes(long bytes) {
    prefix.addAll(
        List.of("/bin/sh", "-c", "ulimit -v " + bytes / 1024 + " && exec \"$@\"", "limited"));
    return this;
  }

  /** Runs a class's main method to its end. */
  public Result run(Class<?> main, String... arguments) throws IOException, InterruptedException {
    // First: the flags may hold another class path, and the last one counts.
    flags.addAll(0, List.of("-cp", System.getProperty("java.class.path")));
    return run(List.of(main.getName()), arguments);
  }

  /** Runs a module's main class to its end, with an empty class path. */
  public Result runModule(String modulePath, String moduleAndClass, String... arguments)
      throws IOException, InterruptedException {
    flags.addAll(List.of("-p", modulePath));
    return run(List.of("-m", moduleAndClass), arguments);
  }

  private Result run(List<String> main, String... arguments)
      throws IOException, InterruptedException {
    Path output = directory.resolve("stdout");
    Path errors = directory.resolve("stderr");
    List<String> command = new ArrayList<>(prefix);
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("-Xmx64m");
    if (!withC2) {
      command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
    }
    command.addAll(flags);
    command.addAll(main);
    command.addAll(List.of(arguments));
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectOutput(output.toFile()).redirectError(errors.toFile());
    if (inDirectory) {
      builder.directory(directory.toFile());
    }
    // Each of these would bring flags back in, and a line on standard error.
    builder
        .environment()
        .keySet()
        .removeAll(List.of("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"));
    int exitCode = builder.start().waitFor();
    return new Result(exitCode, Files.readString(output), Files.readString(errors));
  }
}
