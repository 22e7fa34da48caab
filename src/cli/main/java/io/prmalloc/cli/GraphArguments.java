package io.prmalloc.cli;

import io.prmalloc.plan.arena.Graph;
import io.prmalloc.trace.GraphInput;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * The arguments by which a command finds its graph.
 *
 * <p>Threading: one thread.
 */
final class GraphArguments {

  @Parameters(
      index = "0",
      paramLabel = "GRAPH",
      description =
          "The graph: a JSON file, a .tflite model, sample:mobilenet-v1 or sample:mobilenet-v2.")
  private String input;

  @Option(
      names = "--subgraph",
      paramLabel = "N",
      description = "Which graph of a .tflite model, from 0. Default: 0, the main one.")
  private Integer subgraph;

  GraphArguments() {}

  /** GRAPH as the user typed it. */
  String input() {
    return input;
  }

  /** Reads the graph. */
  Graph read() {
    return new GraphInput(input, subgraph).read();
  }
}
