package io.prmalloc.cli;

import io.prmalloc.internal.os.MallocLibrary;
import io.prmalloc.trace.Pipes;
import io.prmalloc.trace.replay.ReplayAllocator;
import io.prmalloc.trace.replay.ReplayProgress;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Runs one allocator of a replay in a JVM of its own: the same command with the same flags, told to
 * run that allocator only and to print the result. So the memory of the process is this
 * allocator's, and jemalloc or mimalloc can take malloc's place there.
 *
 * <p>Threading: one thread.
 */
final class ReplayProcess {

  // Standard output of the child has lines of its own: how far it is, and at the end the run.

  private static final String PROGRESS = "progress ";
  private static final String RUN = "run ";
  private static final String PRELOAD = "LD_PRELOAD";
  private static final String UNNAMED = "ALL-UNNAMED";

  /** Of a JVM that SIGINT ends. */
  private static final int SIGINT_EXIT_CODE = 130;

  /** The option that makes a process the child. */
  static final String RUN_HERE = "--run-here";

  private final List<String> arguments;

  /**
   * @param arguments of the whole command, as the user typed them
   */
  ReplayProcess(List<String> arguments) {
    this.arguments = List.copyOf(arguments);
  }

  /** For the child: says how far it is. */
  static ReplayProgress progress(PrintWriter out) {
    return new ReplayProgress() {
      @Override
      public void update(ReplayAllocator allocator, long steps, long totalSteps) {
        out.println(PROGRESS + steps + " " + totalSteps);
        out.flush();
      }

      @Override
      public void close() {}
    };
  }

  /** For the child: says what came out. */
  static void print(PrintWriter out, String json) {
    out.println(RUN + json);
    out.flush();
  }

  /**
   * Runs an allocator.
   *
   * @param progress told of the way
   * @return the run as JSON
   * @throws CancellationException if the child ended without one because this process ends, or by
   *     the signal of Ctrl-C, which a terminal sends to both
   * @throws IllegalArgumentException if the child refused its input or arguments; the message is
   *     what it said
   * @throws IllegalStateException if the child ended without one; the message says what it said
   * @throws UncheckedIOException if there can be no child
   */
  String run(ReplayAllocator allocator, ReplayProgress progress) throws InterruptedException {
    List<Path> files = new ArrayList<>();
    try {
      Path errors = Files.createTempFile("prmalloc-replay", ".err");
      files.add(errors);
      List<String> childArguments = withoutPipes(files);
      return run(
          builder(allocator, childArguments).redirectError(errors.toFile()),
          errors,
          allocator,
          progress);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } finally {
      files.forEach(ReplayProcess::delete);
    }
  }

  /** The arguments with a file in place of each pipe: what came out of that is this process's. */
  private List<String> withoutPipes(List<Path> files) throws IOException {
    List<String> replaced = new ArrayList<>();
    for (String argument : arguments) {
      Optional<byte[]> content = Pipes.contentOf(Path.of(argument));
      if (content.isPresent()) {
        Path copy = Files.createTempFile("prmalloc-input", "-" + Path.of(argument).getFileName());
        files.add(copy);
        Files.write(copy, content.get());
        replaced.add(copy.toString());
      } else {
        replaced.add(argument);
      }
    }
    return replaced;
  }

  private static void delete(Path file) {
    try {
      Files.deleteIfExists(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String run(
      ProcessBuilder builder, Path errors, ReplayAllocator allocator, ReplayProgress progress)
      throws IOException, InterruptedException {
    Process child = builder.start();
    // The end of this process ends the child too.
    AtomicBoolean ending = new AtomicBoolean();
    Runnable end =
        () -> {
          ending.set(true);
          child.destroyForcibly();
        };
    Thread hook = new Thread(end, "replay-end");
    addHook(hook, end);
    String run = null;
    try (BufferedReader out = child.inputReader(StandardCharsets.UTF_8)) {
      for (String line = out.readLine(); line != null; line = out.readLine()) {
        if (line.startsWith(RUN)) {
          run = line.substring(RUN.length());
        } else if (line.startsWith(PROGRESS)) {
          String[] numbers = line.split(" ", -1);
          progress.update(allocator, Long.parseLong(numbers[1]), Long.parseLong(numbers[2]));
        }
      }
      int exitCode = child.waitFor();
      if (run == null && (ending.get() || exitCode == SIGINT_EXIT_CODE)) {
        throw new CancellationException(allocator.label() + " is cancelled");
      }
      if (run == null) {
        String said = lastLine(errors);
        if (exitCode == Main.BAD_INPUT) {
          throw new IllegalArgumentException(said);
        }
        throw new IllegalStateException(
            "its process ended with " + exitCode + (said.isEmpty() ? "" : ": " + said));
      }
      return run;
    } finally {
      child.destroyForcibly();
      removeHook(hook);
    }
  }

  private static void addHook(Thread hook, Runnable end) {
    try {
      Runtime.getRuntime().addShutdownHook(hook);
    } catch (IllegalStateException atItsEnd) {
      end.run();
    }
  }

  private static void removeHook(Thread hook) {
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException ending) {
      // It runs already.
    }
  }

  private static String lastLine(Path errors) throws IOException {
    List<String> lines = Files.readAllLines(errors, StandardCharsets.ISO_8859_1);
    return lines.isEmpty() ? "" : lines.get(lines.size() - 1).replaceFirst("^prmalloc: ", "");
  }

  private static ProcessBuilder builder(ReplayAllocator allocator, List<String> arguments) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    for (String flag : ManagementFactory.getRuntimeMXBean().getInputArguments()) {
      // Two processes cannot have one port.
      if (!flag.startsWith("-agentlib:jdwp") && !flag.startsWith("-Xrunjdwp")) {
        command.add(flag);
      }
    }
    Module ours = Main.class.getModule();
    // What the jar's manifest says, which is read of the jar that -jar names only.
    command.add(
        "--add-opens=java.base/jdk.internal.misc=" + (ours.isNamed() ? "org.agrona" : UNNAMED));
    int version = Runtime.version().feature();
    if (version >= 22) {
      command.add(
          "--enable-native-access=" + (ours.isNamed() ? "com.sun.jna,io.netty.common" : UNNAMED));
    }
    if (version >= 23) {
      // Netty's.
      command.add("--sun-misc-unsafe-memory-access=allow");
    }
    if (ours.isNamed()) {
      command.addAll(List.of("-p", System.getProperty("jdk.module.path")));
      command.addAll(List.of("-m", ours.getName() + "/" + Main.class.getName()));
    } else {
      command.addAll(List.of("-cp", System.getProperty("java.class.path"), Main.class.getName()));
    }
    command.addAll(arguments);
    command.add(RUN_HERE + "=" + allocator.label());
    ProcessBuilder builder = new ProcessBuilder(command);
    if (allocator.canBePreloaded()) {
      Map<String, String> environment = builder.environment();
      String before = environment.get(PRELOAD);
      String name = MallocLibrary.preloadName(allocator.label());
      environment.put(PRELOAD, before == null || before.isEmpty() ? name : name + ":" + before);
    }
    return builder;
  }
}
