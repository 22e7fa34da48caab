package io.prmalloc.trace;

import io.prmalloc.model.GraphModel;
import io.prmalloc.model.ModelFormatException;
import io.prmalloc.onnx.OnnxReader;
import io.prmalloc.plan.arena.Graph;
import io.prmalloc.tflite.TfliteReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * What a user types for a graph: the path of a JSON file, of a model of TensorFlow Lite or of an
 * ONNX model, each of which may be compressed with gzip, or {@code sample:NAME} for a graph that
 * comes with the library.
 *
 * <p>Threading: immutable.
 *
 * @param text the path or {@code sample:NAME}
 * @param subgraph which graph of a .tflite model, from 0, or null for all of it
 * @param shapes what is set of a model that leaves it open: by the name of an input (of a .tflite
 *     model also its index) its shape, by that of a dimension of an ONNX model its size; empty to
 *     take what the file says
 */
public record GraphInput(String text, Integer subgraph, Map<String, List<Integer>> shapes) {

  private static final String SAMPLE = "sample:";
  private static final int MARK_LENGTH = 8;

  /**
   * Threading: any thread.
   *
   * @throws IllegalArgumentException if the path is empty, which would be the current directory
   */
  public GraphInput {
    if (text.isEmpty()) {
      throw new IllegalArgumentException("the input is an empty path");
    }
  }

  /** An input whose shapes are taken from the file. Threading: any thread. */
  public GraphInput(String text, Integer subgraph) {
    this(text, subgraph, Map.of());
  }

  /**
   * Reads the graph: the chosen one, or the main one with those that it calls in it.
   *
   * <p>Threading: any thread.
   *
   * @throws TraceFormatException as {@link #readModel}
   * @throws IllegalArgumentException as {@link #readModel}, or if a model is too large as one graph
   * @throws UncheckedIOException as {@link #readModel}
   */
  public Graph read() {
    return graphOf(readModel());
  }

  private Graph graphOf(GraphModel model) {
    return subgraph == null ? model.whole() : model.parts().get(subgraph).graph();
  }

  /**
   * What is to be said of a graph that is read as a trace, and yet is not all there was: a model
   * whose shapes are open, or whose offline plan cannot be kept. Reads it again.
   *
   * <p>Threading: any thread.
   *
   * @return one sentence; empty if nothing is missing
   * @throws TraceFormatException as {@link #readModel}
   * @throws IllegalArgumentException as {@link #readModel}
   * @throws UncheckedIOException as {@link #readModel}
   */
  public Optional<String> warning() {
    if (text.startsWith(SAMPLE) || !isModel(Path.of(text))) {
      return Optional.empty();
    }
    GraphModel model = readModel();
    Optional<String> overlap =
        TensorLifetimes.overlap(graphOf(model))
            .map(what -> "its offline plan is not kept: " + what + "; `arena` keeps it");
    return warning(Stream.concat(model.warnings().stream(), overlap.stream()).toList());
  }

  /** As {@link #warning()}, of what {@link #readModel} answered. Threading: any thread. */
  public Optional<String> warning(GraphModel model) {
    return warning(model.warnings());
  }

  private Optional<String> warning(List<String> warnings) {
    return warnings.isEmpty()
        ? Optional.empty()
        : Optional.of(text + ": " + String.join("; ", warnings));
  }

  /**
   * Reads all graphs of a model; a file of one graph is a model of one.
   *
   * <p>Threading: any thread.
   *
   * @throws TraceFormatException if the file does not hold a graph, or an operator stops the shapes
   * @throws IllegalArgumentException if there is no such sample, the path is of a directory, a
   *     subgraph or shapes are chosen where there are none, or shapes do not fit
   * @throws UncheckedIOException if the file is not there or cannot be read
   */
  public GraphModel readModel() {
    return InputFile.inHeap(text, this::readIntoHeap);
  }

  private GraphModel readIntoHeap() {
    Path path = text.startsWith(SAMPLE) ? null : Path.of(text);
    if (path != null && Files.isDirectory(path)) {
      throw new IllegalArgumentException(text + ": is a directory and no graph");
    }
    return path != null && isModel(path) ? readModel(path) : readOther(path);
  }

  private void checkNoSubgraph() {
    if (subgraph != null) {
      throw new IllegalArgumentException(
          "--subgraph " + subgraph + " means nothing to " + text + ", which is no .tflite model");
    }
  }

  private GraphModel readOther(Path path) {
    checkNoSubgraph();
    if (!shapes.isEmpty()) {
      throw new IllegalArgumentException(
          "--shape "
              + shapes.keySet().iterator().next()
              + " means nothing to "
              + text
              + ", which is no .tflite or ONNX model");
    }
    if (path != null) {
      InputFile.checkReadable(path);
    }
    return GraphModel.of(
        path == null ? Samples.graph(text.substring(SAMPLE.length())) : GraphReader.read(path));
  }

  /** Told by what models begin with, or by the name where not even that is there. */
  static boolean isModel(Path path) {
    return isTflite(path) || isOnnx(path);
  }

  private static boolean isTflite(Path path) {
    return TfliteReader.isModel(start(path)) || path.toString().endsWith(".tflite");
  }

  private static boolean isOnnx(Path path) {
    return !isTflite(path)
        && (OnnxReader.isModel(start(path)) || path.toString().endsWith(".onnx"));
  }

  private static byte[] start(Path path) {
    return InputFile.start(path, MARK_LENGTH);
  }

  private GraphModel readModel(Path path) {
    try {
      return isOnnx(path) ? readOnnx(path) : readTflite(path);
    } catch (ModelFormatException wrong) {
      throw wrong.place().isEmpty()
          ? TraceFormatException.ofFile(wrong.file(), wrong.what())
          : TraceFormatException.atEntry(wrong.file(), wrong.place(), wrong.what());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private GraphModel readOnnx(Path path) throws IOException {
    checkNoSubgraph();
    if (InputFile.isPlain(path)) {
      return OnnxReader.read(path, shapes);
    }
    try (InputStream in = InputFile.open(path)) {
      return OnnxReader.read(text, in, shapes);
    }
  }

  private GraphModel readTflite(Path path) {
    int chosen = subgraph == null ? 0 : subgraph;
    if (InputFile.isPlain(path)) {
      return TfliteReader.readModel(path, chosen, shapes);
    }
    ByteBuffer bytes = InputFile.bytes(path);
    return TfliteReader.readModel(text, bytes, bytes.limit(), chosen, shapes);
  }
}
