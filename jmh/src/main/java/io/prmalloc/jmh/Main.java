package io.prmalloc.jmh;

import io.prmalloc.jmh.engine.EngineBenchmark;
import io.prmalloc.jmh.report.Report;
import io.prmalloc.jmh.server.NettyServerBenchmark;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import org.openjdk.jmh.runner.RunnerException;

/**
 * The module's command line: a few commands of its own; all other arguments are passed to JMH.
 *
 * <p>Threading: one thread.
 */
public final class Main {

  private static final String USAGE =
      """
      published [--out DIR] [--data DIR] [--only SLICE,...] [--rivals RIVAL,...] [--forks N] [--smoke]
          measures what docs/benchmarks shows and writes it into a directory, target/published
      report RUN DOCS [FIXED]
          writes the tables of DOCS/README.md and the charts beside it from such a directory, and from
          one that was measured with a fixed threshold of malloc
      floors RUN
          holds it against what is promised; exit code 1 where that is not reached or not measured
      medians RUN
          prints all its medians
      netty-server [--buffers NAME,...] [--gathering NAME,...] [--connections N] [--threads N]
          [--least MIB] [--most MIB] [--rounds N] [--windows N] [--millis N] [--smoke]
          a Netty server that only swaps its allocator: requests per second and resident memory
      engine --model FILE [--shape INPUT=DIMENSIONS]... [--model ...] [--shapes N] [--runs N]
          [--threads N] [--seed N] [--rounds N] [--arms ARM,...] [--memory direct|mmap|huge]
          [--engine-threads N] [--heap MIB] [--json]
          ONNX Runtime on shapes that vary, by where its memory comes from: own, own-no-pattern,
          shared, no-arena, pool; DIMENSIONS such as 1x3x128..640/32x128..640/32, /32 the step,
          and L:16..128 for one that is drawn once for all that are called L
      --help, alone or behind a command
          shows this
      anything else
          goes to JMH; -h shows its options""";

  private static final String HELP = "--help";

  private static final int USAGE_ERROR = 2;

  private Main() {}

  /**
   * Runs a command and ends the JVM with its exit code.
   *
   * <p>Threading: one thread.
   *
   * @param args the command and its arguments
   * @throws IOException if JMH cannot read or write
   */
  public static void main(String[] args) throws IOException {
    String command = args.length == 0 ? "" : args[0];
    List<String> rest = List.of(args).subList(Math.min(1, args.length), args.length);
    switch (command) {
      case "published", "report", "floors", "medians", "netty-server", "engine", HELP ->
          System.exit(run(command, rest));
      default -> org.openjdk.jmh.Main.main(args);
    }
  }

  static int run(String command, List<String> arguments) {
    if (command.equals(HELP) || arguments.contains(HELP)) {
      System.out.println(USAGE);
      return 0;
    }
    try {
      switch (command) {
        case "published" -> {
          return Published.of(arguments, System.out).run() ? 0 : 1;
        }
        case "report" -> {
          expect(arguments, 2, 3);
          Report report = Report.of(Path.of(arguments.get(0)));
          if (arguments.size() == 3) {
            report = report.withFixedThreshold(Path.of(arguments.get(2)));
          }
          report.write(Path.of(arguments.get(1)));
          return 0;
        }
        case "floors" -> {
          expect(arguments, 1, 1);
          return Report.of(Path.of(arguments.get(0))).printFloors(System.out) ? 0 : 1;
        }
        case "medians" -> {
          expect(arguments, 1, 1);
          Report.of(Path.of(arguments.get(0))).printMedians(System.out);
          return 0;
        }
        case "netty-server" -> {
          NettyServerBenchmark.of(arguments, System.out).run();
          return 0;
        }
        case "engine" -> {
          return EngineBenchmark.of(arguments, System.out).run() ? 0 : 1;
        }
        default -> throw new IllegalArgumentException("there is no command `" + command + "`");
      }
    } catch (IllegalArgumentException | UncheckedIOException e) {
      System.err.println(e.getMessage() + "\n\n" + USAGE);
      return USAGE_ERROR;
    } catch (RunnerException e) {
      System.err.println(e);
      return 1;
    }
  }

  private static void expect(List<String> arguments, int least, int most) {
    if (arguments.size() < least || arguments.size() > most) {
      throw new IllegalArgumentException(
          arguments.size() + " arguments are not " + least + " to " + most);
    }
  }
}
