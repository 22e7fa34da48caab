package io.prmalloc.cli;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;

/**
 * Writes a file as a whole or not at all: beside its place first, then over it.
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
    try {
      Path place = file.toAbsolutePath();
      if (Files.exists(place) && !Files.isRegularFile(place)) {
        // A pipe or a terminal: nothing to replace.
        Files.writeString(place, text, StandardOpenOption.WRITE);
        return;
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    write(file, beside -> Files.writeString(beside, text, StandardOpenOption.CREATE_NEW));
  }

  /** Makes a file. */
  @FunctionalInterface
  interface Content {
    /** Threading: one thread. */
    void write(Path newFile) throws IOException;
  }

  /**
   * Writes what is too large for a string.
   *
   * <p>Threading: any thread.
   *
   * @param content makes a file that is not there yet
   * @throws UncheckedIOException if it cannot be written; what was there is as before
   */
  static void write(Path file, Content content) {
    try {
      Path place = file.toAbsolutePath();
      if (!Files.isDirectory(place.getParent())) {
        throw new FileSystemException(file.toString(), null, "its directory is not there");
      }
      Path beside =
          place.resolveSibling(
              "." + place.getFileName() + "." + ProcessHandle.current().pid() + ".part");
      try {
        content.write(beside);
        Files.move(beside, place, StandardCopyOption.REPLACE_EXISTING);
      } finally {
        Files.deleteIfExists(beside);
      }
    } catch (AccessDeniedException e) {
      // Which may name the file beside.
      throw new UncheckedIOException(
          new FileSystemException(file.toString(), null, "may not be written"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
