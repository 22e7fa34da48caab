package io.prmalloc.cli;

import io.prmalloc.trace.TensorLifetimes;
import io.prmalloc.trace.TraceFormat;
import io.prmalloc.trace.TraceInput;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import java.util.stream.Collectors;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * The arguments by which a planner finds its tensors: traces, tables of lives, and graphs.
 *
 * <p>Threading: one thread.
 */
final class PlanArguments {

  private static final String GRAPH = "graph";
  private static final String GRAPH_SAMPLES = "sample:mobilenet-v";

  @Parameters(
      index = "0",
      paramLabel = "INPUT",
      description =
          "The tensors: a CSV of lifetimes (id,lower,upper,size) or records (id,size,first,last), a"
              + " file of events, a directory of MNN profiler files (with --batch), a graph in JSON"
              + " or a .tflite model, sample:mobilenet, sample:mobilenet-v1 or sample:mobilenet-v2.")
  private String input;

  @Option(
      names = "--format",
      paramLabel = "NAME",
      description =
          "How to read INPUT: events, mnn, lifetimes, records or graph. Default: told from its"
              + " content.")
  private String format;

  @Option(
      names = "--batch",
      paramLabel = "N",
      description = "Which batch of a directory of profiler files.")
  private Integer batch;

  @Option(
      names = "--subgraph",
      paramLabel = "N",
      description = "Which graph of a .tflite model, from 0. Default: 0, the main one.")
  private Integer subgraph;

  PlanArguments() {}

  /** Reads the tensors. */
  TensorLifetimes read() {
    Optional<TraceFormat> traceFormat = traceFormat();
    if (traceFormat.isEmpty() && (GRAPH.equalsIgnoreCase(format) || isGraph())) {
      if (batch != null) {
        throw new IllegalArgumentException("--batch " + batch + " means nothing to a graph");
      }
      return TensorLifetimes.of(input, GraphArguments.read(input, subgraph));
    }
    if (subgraph != null) {
      throw new IllegalArgumentException(
          "--subgraph " + subgraph + " means nothing to " + input + ", which is no .tflite model");
    }
    return new TraceInput(input, traceFormat.orElse(null), batch).readLifetimes();
  }

  private Optional<TraceFormat> traceFormat() {
    if (format == null || format.equalsIgnoreCase(GRAPH)) {
      return Optional.empty();
    }
    return Optional.of(
        Arrays.stream(TraceFormat.values())
            .filter(known -> known.label().equalsIgnoreCase(format))
            .findFirst()
            .orElseThrow(
                () ->
                    new IllegalArgumentException(
                        "--format "
                            + format
                            + " is none of "
                            + Arrays.stream(TraceFormat.values())
                                .map(known -> known.label() + ", ")
                                .collect(Collectors.joining())
                            + GRAPH)));
  }

  /** A model by its mark, JSON by its brace. */
  private boolean isGraph() {
    if (input.startsWith("sample:")) {
      return input.startsWith(GRAPH_SAMPLES);
    }
    Path path = Path.of(input);
    if (Files.isDirectory(path)) {
      return false;
    }
    try (var in = Files.newInputStream(path)) {
      String start = new String(in.readNBytes(4096), StandardCharsets.ISO_8859_1);
      return start.stripLeading().startsWith("{") || GraphArguments.isModel(input);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
