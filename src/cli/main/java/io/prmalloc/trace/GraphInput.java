package io.prmalloc.trace;

import io.prmalloc.onnx.OnnxFormatException;
import io.prmalloc.onnx.OnnxGraph;
import io.prmalloc.onnx.OnnxReader;
import io.prmalloc.plan.arena.Graph;
import io.prmalloc.tflite.TfliteFormatException;
import io.prmalloc.tflite.TfliteReader;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What a user types for a graph: the path of a JSON file, of a model of TensorFlow Lite or of an
 * ONNX model, each of which may be compressed with gzip, or {@code sample:NAME} for a graph that
 * comes with the library.
 *
 * <p>Threading: immutable.
 *
 * @param text the path or {@code sample:NAME}
 * @param subgraph which graph of a model of TensorFlow Lite, from 0, or null for the main one
 * @param shapes what is set of an ONNX model that leaves it open: by the name of an input its
 *     shape, by that of a dimension its size
 */
public record GraphInput(String text, Integer subgraph, Map<String, List<Integer>> shapes) {

  private static final String SAMPLE = "sample:";
  private static final int MARK_LENGTH = 8;

  /**
   * Reads the graph.
   *
   * <p>Threading: any thread.
   *
   * @throws TraceFormatException if the file does not hold a graph
   * @throws IllegalArgumentException if there is no such sample, the path is of a directory, a
   *     subgraph is chosen where there are none, shapes are set where there are none to set, or an
   *     open one is not set
   * @throws UncheckedIOException if the file is not there or cannot be read
   */
  public Graph read() {
    return InputFile.inHeap(text, this::readIntoHeap);
  }

  private Graph readIntoHeap() {
    Path path = text.startsWith(SAMPLE) ? null : Path.of(text);
    if (path != null && Files.isDirectory(path)) {
      throw new IllegalArgumentException(text + ": is a directory and no graph");
    }
    if (path != null && isOnnx(path)) {
      checkNoSubgraph();
      return readOnnx(path).graph();
    }
    if (!shapes.isEmpty()) {
      throw new IllegalArgumentException(
          "--shape "
              + shapes.keySet().iterator().next()
              + " means nothing to "
              + text
              + ", which is no ONNX model");
    }
    if (path != null && isTflite(path)) {
      return readModel(path, subgraph == null ? 0 : subgraph);
    }
    checkNoSubgraph();
    return path == null ? Samples.graph(text.substring(SAMPLE.length())) : GraphReader.read(path);
  }

  /**
   * What is to be said of a graph that can be read and yet is not all there was: values of an ONNX
   * model whose size is not known. Reads the model again.
   *
   * <p>Threading: any thread.
   *
   * @return empty if nothing is missing
   */
  public Optional<String> warning() {
    return text.startsWith(SAMPLE) || !isOnnx(Path.of(text))
        ? Optional.empty()
        : readOnnx(Path.of(text)).warning().map(what -> text + ": " + what);
  }

  private void checkNoSubgraph() {
    if (subgraph != null) {
      throw new IllegalArgumentException(
          "--subgraph " + subgraph + " means nothing to " + text + ", which is no .tflite model");
    }
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

  private OnnxGraph readOnnx(Path path) {
    try {
      return OnnxReader.read(path, shapes);
    } catch (OnnxFormatException wrong) {
      throw formatException(wrong.file(), wrong.place(), wrong.what());
    }
  }

  private static TraceFormatException formatException(String file, String place, String what) {
    return place.isEmpty()
        ? TraceFormatException.ofFile(file, what)
        : TraceFormatException.atEntry(file, place, what);
  }

  private static Graph readModel(Path path, int subgraph) {
    try {
      if (!InputFile.isCompressed(path)) {
        return TfliteReader.read(path, subgraph);
      }
      ByteBuffer bytes = InputFile.bytes(path);
      return TfliteReader.read(path.toString(), bytes, bytes.limit(), subgraph);
    } catch (TfliteFormatException wrong) {
      throw formatException(wrong.file(), wrong.place(), wrong.what());
    }
  }
}
