package io.prmalloc.cli;

import io.prmalloc.internal.os.FileReplacement;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Writes a file as a whole or not at all, as {@link FileReplacement} does, with errors for people.
 *
 * <p>Threading: any thread.
 */
final class OutputFile {

  private OutputFile() {}

  /**
   * Refuses files that cannot be written, as far as that can be told before the work, and two that
   * are one.
   *
   * <p>Threading: any thread.
   *
   * @param files by the options that name them; null for those that were not given
   * @throws IllegalArgumentException if two are the same file
   * @throws UncheckedIOException if one cannot be written
   */
  static void check(Map<String, Path> files) {
    Map<String, Path> before = new LinkedHashMap<>();
    files.forEach(
        (option, file) -> {
          if (file != null) {
            check(file);
            before.forEach(
                (other, path) -> {
                  if (isSame(path, file)) {
                    throw new IllegalArgumentException(
                        other + " and " + option + " are the same file " + file);
                  }
                });
            before.put(option, file);
          }
        });
  }

  private static void check(Path file) {
    if (!isSpecial(file)) {
      checkMade(file);
    } else if (!Files.isWritable(file)) {
      throw new UncheckedIOException(
          new FileSystemException(file.toString(), null, "may not be written"));
    }
  }

  /** As {@link #check}, of a file that {@link #make} is to make. Threading: any thread. */
  static void checkMade(Path file) {
    run(
        file,
        () -> {
          checkPlace(file);
          FileReplacement.check(file);
        });
  }

  /**
   * Refuses to replace what the command reads, and to put a file into a directory that it reads,
   * where the file could pass for a part of the input or replace one.
   *
   * <p>Threading: any thread.
   *
   * @param option names the file
   * @param file what is written; null for nothing
   * @param input what is read, as the user typed it
   * @throws IllegalArgumentException if they are the same file, or the file would lie in the input
   */
  static void checkKept(String option, Path file, String input) {
    if (replaces(file, input)) {
      throw new IllegalArgumentException(
          option + " " + file + " is the input " + input + ", which it would replace");
    }
    if (file != null && isIn(Path.of(input), file)) {
      throw new IllegalArgumentException(
          option + " " + file + " would lie in the input " + input + ", a directory that is read");
    }
  }

  /** Not below, for directories in the input are not read. */
  private static boolean isIn(Path directory, Path file) {
    try {
      return Files.isDirectory(directory)
          && Files.isSameFile(FileReplacement.place(file).getParent(), directory);
    } catch (IOException notThere) {
      return false;
    }
  }

  /** Whether a file that is written, or null, takes the place of one that is read. */
  static boolean replaces(Path file, String input) {
    return file != null && isSame(file, Path.of(input));
  }

  private static boolean isSame(Path one, Path other) {
    try {
      if (Files.exists(one) || Files.exists(other)) {
        return Files.isRegularFile(one) && Files.isSameFile(one, other);
      }
      return FileReplacement.place(one).equals(FileReplacement.place(other));
    } catch (IOException notThere) {
      return false;
    }
  }

  /** A pipe or a terminal: there is nothing to replace. */
  private static boolean isSpecial(Path file) {
    return Files.exists(file) && !Files.isRegularFile(file) && !Files.isDirectory(file);
  }

  /**
   * Writes when the work is done, whose result is to be printed even if that fails.
   *
   * <p>Threading: any thread.
   *
   * @param write calls a method of this class
   * @return why the file is not written; empty if it is
   */
  static Optional<String> failure(Runnable write) {
    try {
      write.run();
      return Optional.empty();
    } catch (UncheckedIOException e) {
      return Optional.of(Main.describe(e.getCause()));
    } catch (IllegalStateException e) {
      // The input has changed since.
      return Optional.of(e.getMessage());
    }
  }

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
    if (isSpecial(file)) {
      run(file, () -> writeText(file, text, StandardOpenOption.WRITE));
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
    run(
        file,
        () -> {
          checkPlace(file);
          FileReplacement.make(file, content);
        });
  }

  private static void checkPlace(Path file) throws IOException {
    if (Files.isDirectory(file)) {
      throw new FileSystemException(file.toString(), null, "is a directory");
    }
    if (isSpecial(file)) {
      throw new FileSystemException(file.toString(), null, "is no regular file");
    }
    if (!Files.isDirectory(file.toAbsolutePath().getParent())) {
      throw new FileSystemException(file.toString(), null, "its directory is not there");
    }
  }

  private interface Work {
    void run() throws IOException;
  }

  /** Has errors name the file, not one beside it or none. */
  private static void run(Path file, Work work) {
    try {
      work.run();
    } catch (IOException e) {
      throw new UncheckedIOException(FileReplacement.naming(file, e));
    } catch (UncheckedIOException e) {
      throw new UncheckedIOException(FileReplacement.naming(file, e.getCause()));
    }
  }
}
