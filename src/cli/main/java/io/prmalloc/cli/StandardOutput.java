package io.prmalloc.cli;

import java.io.IOException;
import java.io.OutputStream;
import java.util.Locale;
import java.util.Optional;

/**
 * Standard output, which remembers that it could not be written: the writers above it swallow that.
 *
 * <p>Threading: one thread.
 */
final class StandardOutput extends OutputStream {

  private final OutputStream out;
  private IOException failure;

  /**
   * @param out where it goes
   */
  StandardOutput(OutputStream out) {
    this.out = out;
  }

  @Override
  public void write(int one) throws IOException {
    write(new byte[] {(byte) one}, 0, 1);
  }

  @Override
  public void write(byte[] bytes, int offset, int length) throws IOException {
    try {
      out.write(bytes, offset, length);
    } catch (IOException e) {
      failure = failure == null ? e : failure;
      throw e;
    }
  }

  @Override
  public void flush() throws IOException {
    try {
      out.flush();
    } catch (IOException e) {
      failure = failure == null ? e : failure;
      throw e;
    }
  }

  /**
   * Why not all of it was written. Empty if a pipe was closed at its other end: who closed it, as
   * {@code head} does, wants no more.
   */
  Optional<String> failure() {
    return Optional.ofNullable(failure)
        .map(e -> String.valueOf(e.getMessage()))
        .filter(message -> !message.toLowerCase(Locale.ROOT).contains("pipe"));
  }
}
