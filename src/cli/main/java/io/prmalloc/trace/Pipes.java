package io.prmalloc.trace;

import io.prmalloc.model.FileInput;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * What came out of pipes. A pipe can be read once, and readers open a file several times; so while
 * this is open, a pipe that is an input is read to its end when it is first opened, and its content
 * stays in the heap until this is closed.
 *
 * <p>Threading: safe; one at a time in a process.
 */
public final class Pipes implements AutoCloseable {

  private static final int TYPE = 0170000;
  private static final int FIFO = 0010000;
  private static final int SOCKET = 0140000;

  private static volatile Pipes current;

  private final Map<Path, byte[]> contents = new ConcurrentHashMap<>();

  /** Begins to keep what comes out of pipes. Threading: any thread. */
  public Pipes() {
    current = this;
  }

  /**
   * What came out of a pipe; empty if the path is of none that was read.
   *
   * <p>Threading: any thread.
   */
  public static Optional<byte[]> contentOf(Path path) {
    Pipes pipes = current;
    return pipes == null ? Optional.empty() : Optional.ofNullable(pipes.contents.get(path));
  }

  /**
   * What comes out of a pipe, read to its end; empty if the path is of none, or pipes are not kept.
   *
   * @throws TraceFormatException if the path is of what is neither a file nor a pipe, or it does
   *     not fit into the heap
   * @throws IOException if it is not there or cannot be read
   */
  static Optional<byte[]> read(Path path) throws IOException {
    if (Files.isRegularFile(path) || !Files.exists(path)) {
      return Optional.empty();
    }
    if (Files.isDirectory(path)) {
      throw TraceFormatException.ofFile(path.toString(), "is a directory and no file");
    }
    if (!isPipe(path)) {
      throw TraceFormatException.ofFile(path.toString(), "is a device and no file");
    }
    Pipes pipes = current;
    if (pipes == null) {
      return Optional.empty();
    }
    byte[] content = pipes.contents.get(path);
    if (content == null) {
      content = InputFile.inHeap(path.toString(), () -> readAll(path));
      pipes.contents.put(path, content);
    }
    return Optional.of(content);
  }

  private static boolean isPipe(Path path) throws IOException {
    try {
      int type = (Integer) Files.getAttribute(path, "unix:mode") & TYPE;
      return type == FIFO || type == SOCKET;
    } catch (UnsupportedOperationException | IllegalArgumentException notTold) {
      return true;
    }
  }

  private static byte[] readAll(Path path) {
    try (InputStream in = FileInput.open(path)) {
      return in.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    current = null;
  }
}
