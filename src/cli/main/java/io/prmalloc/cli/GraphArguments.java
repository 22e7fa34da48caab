package io.prmalloc.cli;

import io.prmalloc.model.GraphModel;
import io.prmalloc.trace.GraphInput;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * The arguments by which a command finds its graph.
 *
 * <p>Threading: one thread.
 */
final class GraphArguments {

  @Spec(Spec.Target.MIXEE)
  private CommandSpec command;

  @Parameters(
      index = "0",
      paramLabel = "GRAPH",
      description =
          "The graph: a JSON file, a .tflite or .onnx model, sample:mobilenet-v1 or"
              + " sample:mobilenet-v2.")
  private String input;

  @Option(
      names = "--subgraph",
      paramLabel = "N",
      description = "Which graph of a .tflite model, from 0. Default: all of them.")
  private Integer subgraph;

  @Mixin private ShapeArguments shapes;

  GraphArguments() {}

  /** GRAPH as the user typed it. */
  String input() {
    return input;
  }

  /** Reads the chosen graph or all of them, and warns of what is only assumed. */
  GraphModel read() {
    GraphInput graph = new GraphInput(input, subgraph, shapes.byName());
    GraphModel model = graph.readModel();
    Main.warn(command, graph.warning(model));
    return subgraph == null ? model : model.only(subgraph);
  }
}
