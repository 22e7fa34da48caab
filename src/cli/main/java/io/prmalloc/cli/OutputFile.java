package io.prmalloc.cli;

import io.prmalloc.internal.os.FileReplacement;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Writes a file as a whole or not at all, as {@link FileReplacement} does, with errors for people.
 *
 * <p>Threading: any thread.
 */
final class OutputFile {

  private OutputFile() {}

  /**
   * Threading: any thread.
   *
   * @throws UncheckedIOException if it cannot be written; what was there is as before
   */
  static void write(Path file, String text) {
    write(file, out -> out.append(text));
  }

  /** Text that is written as it is made. */
  @FunctionalInterface
  interface Text {
    /** Threading: one thread. */
    void writeTo(Appendable out) throws IOException;
  }

  /**
   * Writes a text that may be larger than memory.
   *
   * <p>Threading: any thread.
   *
   * @throws UncheckedIOException if it cannot be written; what was there is as before
   */
  static void write(Path file, Text text) {
    if (Files.exists(file) && !Files.isRegularFile(file)) {
      // A pipe or a terminal: nothing to replace.
      try {
        writeText(file, text, StandardOpenOption.WRITE);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    } else {
      make(file, beside -> writeText(beside, text, StandardOpenOption.CREATE_NEW));
    }
  }

  private static void writeText(Path file, Text text, OpenOption how) throws IOException {
    try (Writer out = Files.newBufferedWriter(file, how)) {
      text.writeTo(out);
    }
  }

  /**
   * Writes what is no text.
   *
   * <p>Threading: any thread.
   *
   * @param content makes a file that is not there yet
   * @throws UncheckedIOException if it cannot be written; what was there is as before
   */
  static void make(Path file, FileReplacement.Content content) {
    try {
      Path place = file.toAbsolutePath();
      if (!Files.isDirectory(place.getParent())) {
        throw new FileSystemException(file.toString(), null, "its directory is not there");
      }
      FileReplacement.make(place, content);
    } catch (AccessDeniedException e) {
      // Which may name the file beside.
      throw new UncheckedIOException(
          new FileSystemException(file.toString(), null, "may not be written"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
