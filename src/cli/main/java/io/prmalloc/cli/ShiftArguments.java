package io.prmalloc.cli;

import io.prmalloc.trace.TraceInput;
import picocli.CommandLine.Option;

/**
 * One change of traffic.
 *
 * <p>Threading: one thread.
 */
final class ShiftArguments {

  @Option(
      names = "--shift",
      required = true,
      paramLabel = "TRACE2",
      description =
          "Traffic changes to this trace when INPUT has had its steps; may be given several times."
              + " Shows how the pool takes it, and measures no time.")
  private String trace;

  @Option(
      names = "--shift-batch",
      paramLabel = "N",
      description = "Which batch, if TRACE2 is a directory of profiler files.")
  private Integer batch;

  ShiftArguments() {}

  /** What to read. */
  TraceInput traceInput() {
    return new TraceInput(trace, null, batch);
  }

  /** As the user typed it. */
  String text() {
    return batch == null ? trace : trace + " --batch " + batch;
  }
}
