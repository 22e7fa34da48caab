package io.prmalloc.cli;

import io.prmalloc.plan.arena.Graph;
import io.prmalloc.trace.GraphReader;
import io.prmalloc.trace.MobileNetGraphs;
import io.prmalloc.trace.tflite.TfliteReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
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
    return read(input, subgraph);
  }

  /**
   * Reads a graph of any format.
   *
   * @param subgraph which graph of a model, or null if the user did not say
   */
  static Graph read(String input, Integer subgraph) {
    if (isModel(input)) {
      return TfliteReader.read(Path.of(input), subgraph == null ? 0 : subgraph);
    }
    if (subgraph != null) {
      throw new IllegalArgumentException(
          "--subgraph " + subgraph + " means nothing to " + input + ", which is no .tflite model");
    }
    return switch (input) {
      case "sample:mobilenet-v1" -> MobileNetGraphs.v1();
      case "sample:mobilenet-v2" -> MobileNetGraphs.v2();
      default -> {
        if (input.startsWith("sample:")) {
          throw new IllegalArgumentException(
              input + " is not there; there are sample:mobilenet-v1 and sample:mobilenet-v2");
        }
        yield GraphReader.read(Path.of(input));
      }
    };
  }

  /** Told by the mark that models have, or the name where not even the mark is there. */
  static boolean isModel(String input) {
    if (input.startsWith("sample:")) {
      return false;
    }
    if (Files.isDirectory(Path.of(input))) {
      throw new IllegalArgumentException(input + ": is a directory and no graph");
    }
    try (var in = Files.newInputStream(Path.of(input))) {
      return TfliteReader.isModel(in.readNBytes(8)) || input.endsWith(".tflite");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
