package io.prmalloc.model;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * What a file holds, byte by byte. What fails names the file, also where the system's own message
 * has only the reason, as when a disk or a network cannot read on.
 *
 * <p>Threading: one thread at a time.
 */
public final class FileInput extends FilterInputStream {

  private final Path path;

  private FileInput(Path path, InputStream in) {
    super(in);
    this.path = path;
  }

  /**
   * Opens a file.
   *
   * <p>Threading: any thread.
   *
   * @throws FileSystemException if it is not there or cannot be opened
   */
  public static InputStream open(Path path) throws IOException {
    return new FileInput(path, Files.newInputStream(path));
  }

  @Override
  public int read() throws IOException {
    try {
      return in.read();
    } catch (IOException e) {
      throw named(e);
    }
  }

  @Override
  public int read(byte[] bytes, int offset, int length) throws IOException {
    try {
      return in.read(bytes, offset, length);
    } catch (IOException e) {
      throw named(e);
    }
  }

  private FileSystemException named(IOException e) {
    FileSystemException named = new FileSystemException(path.toString(), null, e.getMessage());
    named.initCause(e);
    return named;
  }
}
