package io.prmalloc.cli;

import io.prmalloc.trace.GraphInput;
import io.prmalloc.trace.TensorLifetimes;
import io.prmalloc.trace.Trace;
import io.prmalloc.trace.TraceFormat;
import io.prmalloc.trace.TraceInput;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * The arguments by which every command finds its trace, or its tensors.
 *
 * <p>Threading: one thread.
 */
final class InputArguments {

  @Spec(Spec.Target.MIXEE)
  private CommandSpec command;

  @Parameters(
      index = "0",
      paramLabel = "INPUT",
      description =
          "What to read: a file of events, a CSV of lifetimes (id,lower,upper,size) or records"
              + " (id,size,first,last), a graph (JSON, .tflite or .onnx), a recording of a live pool,"
              + " a malloc trace (.rep of CS:APP, .trc of idealloc), a memory snapshot of PyTorch"
              + " (JSON), each also compressed with gzip; a directory of MNN profiler files (with"
              + " --batch); sample:mobilenet, sample:mobilenet-v1 or sample:mobilenet-v2.")
  private String input;

  @Option(
      names = "--format",
      paramLabel = "NAME",
      description =
          "How to read INPUT: events, mnn, lifetimes, records, graph, recording, malloc, idealloc"
              + " or snapshot. Default: told from its content.")
  private TraceFormat format;

  @Option(
      names = "--batch",
      paramLabel = "N",
      description = "Which batch of a directory of profiler files.")
  private Integer batch;

  @Option(
      names = "--device",
      paramLabel = "N",
      description =
          "Which device of a memory snapshot, from 0. Default: the only one that has a history.")
  private Integer device;

  @Mixin private ShapeArguments shapes;

  InputArguments() {}

  /** INPUT as the user typed it. */
  String input() {
    return input;
  }

  /** INPUT and what says which part of it, for people. */
  String text() {
    return input
        + (batch == null ? "" : " --batch " + batch)
        + (device == null ? "" : " --device " + device)
        + shapes.text();
  }

  /** Reads one graph of a model, and warns if it is not all there was. */
  TensorLifetimes readGraph(int subgraph) {
    if (batch != null || device != null) {
      throw new IllegalArgumentException(
          (batch != null ? "--batch " + batch : "--device " + device)
              + " means nothing to a graph");
    }
    GraphInput graph = new GraphInput(input, subgraph, shapes.byName());
    TensorLifetimes read = TensorLifetimes.of(input, graph.read());
    Main.warn(command, graph.warning());
    return read;
  }

  /** Reads the lives of the tensors, and warns if they are not all there were. */
  TensorLifetimes readLifetimes() {
    TensorLifetimes read = trace().readLifetimes();
    Main.warn(command, trace().warning());
    return read;
  }

  /** What to read. */
  TraceInput trace() {
    return trace(input);
  }

  /** Another input to be read in the same way. */
  TraceInput trace(String other) {
    return new TraceInput(other, format, batch, device, shapes.byName());
  }

  /** Reads the trace, and warns if it is not all there was. */
  Trace read() {
    Trace read = trace().read();
    warn();
    return read;
  }

  /** Warns if the input, which was read without an error, is not all there was. */
  void warn() {
    Main.warn(command, trace().warning());
    Main.warn(command, trace().constraintsWarning());
  }
}
