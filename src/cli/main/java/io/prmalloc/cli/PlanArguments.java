package io.prmalloc.cli;

import io.prmalloc.trace.GraphInput;
import io.prmalloc.trace.TensorLifetimes;
import io.prmalloc.trace.TraceFormat;
import io.prmalloc.trace.TraceInput;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * The arguments by which a planner finds its tensors: traces, tables of lives, and graphs.
 *
 * <p>Threading: one thread.
 */
final class PlanArguments {

  @Spec(Spec.Target.MIXEE)
  private CommandSpec command;

  @Parameters(
      index = "0",
      paramLabel = "INPUT",
      description =
          "The tensors: a CSV of lifetimes (id,lower,upper,size) or records (id,size,first,last), a"
              + " file of events, a graph in JSON, a .tflite or .onnx model, a recording of a live"
              + " pool, a malloc trace (.rep of CS:APP, .trc of idealloc), a memory snapshot of"
              + " PyTorch (JSON), each also compressed with gzip; a directory of MNN profiler files"
              + " (with --batch); sample:mobilenet, sample:mobilenet-v1 or sample:mobilenet-v2.")
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

  @Option(
      names = "--subgraph",
      paramLabel = "N",
      description =
          "Which graph of a .tflite model, from 0. Default: the main one, with those it calls in"
              + " it.")
  private Integer subgraph;

  @Mixin private ShapeArguments shapes;

  PlanArguments() {}

  /** INPUT as the user typed it. */
  String input() {
    return input;
  }

  /** Whether INPUT is a table that is not compressed, which can be written with a column more. */
  boolean isPlainTable() {
    return subgraph == null
        && new TraceInput(input, format, batch, device, shapes.byName()).isPlainTable();
  }

  /** Reads the tensors, and warns if they are not all there were. */
  TensorLifetimes read() {
    if (subgraph == null) {
      TraceInput trace = new TraceInput(input, format, batch, device, shapes.byName());
      TensorLifetimes read = trace.readLifetimes();
      Main.warn(command, trace.warning());
      return read;
    }
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
}
