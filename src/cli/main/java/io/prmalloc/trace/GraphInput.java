package io.prmalloc.trace;

import io.prmalloc.plan.arena.Graph;
import io.prmalloc.tflite.TfliteFormatException;
import io.prmalloc.tflite.TfliteReader;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * What a user types for a graph: the path of a JSON file or of a model of TensorFlow Lite, which
 * may be compressed with gzip, or {@code sample:NAME} for a graph that comes with the library.
 *
 * <p>Threading: immutable.
 *
 * @param text the path or {@code sample:NAME}
 * @param subgraph which graph of a model, from 0, or null for the main one
 */
public record GraphInput(String text, Integer subgraph) {

  private static final String SAMPLE = "sample:";
  private static final int MARK_LENGTH = 8;

  /**
   * Reads the graph.
   *
   * <p>Threading: any thread.
   *
   * @throws TraceFormatException if the file does not hold a graph
   * @throws IllegalArgumentException if there is no such sample, the path is of a directory, or a
   *     subgraph is chosen where there are none
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
    if (path != null && isModel(path)) {
      return readModel(path, subgraph == null ? 0 : subgraph);
    }
    if (subgraph != null) {
      throw new IllegalArgumentException(
          "--subgraph " + subgraph + " means nothing to " + text + ", which is no .tflite model");
    }
    if (path != null) {
      InputFile.checkReadable(path);
    }
    return path == null ? Samples.graph(text.substring(SAMPLE.length())) : GraphReader.read(path);
  }

  /** Told by the mark that models have, or by the name where not even the mark is there. */
  static boolean isModel(Path path) {
    return TfliteReader.isModel(InputFile.start(path, MARK_LENGTH))
        || path.toString().endsWith(".tflite");
  }

  private static Graph readModel(Path path, int subgraph) {
    try {
      if (!InputFile.isCompressed(path)) {
        return TfliteReader.read(path, subgraph);
      }
      ByteBuffer bytes = InputFile.bytes(path);
      return TfliteReader.read(path.toString(), bytes, bytes.limit(), subgraph);
    } catch (TfliteFormatException wrong) {
      throw wrong.place().isEmpty()
          ? TraceFormatException.ofFile(wrong.file(), wrong.what())
          : TraceFormatException.atEntry(wrong.file(), wrong.place(), wrong.what());
    }
  }
}
