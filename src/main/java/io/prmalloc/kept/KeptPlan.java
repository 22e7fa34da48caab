package io.prmalloc.kept;

import io.prmalloc.internal.os.FileReplacement;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Optional;

/**
 * The plans of a pool: that of its shared blocks and those of its planned steps. In a file it is
 * JSON with a version and a checksum; a pool that is built with it starts warm.
 *
 * <pre>{@code
 * pool.plan().save(file);
 * ...
 * TensorPoolAllocator warm = TensorPoolAllocator.builder().plan(file).build();
 * }</pre>
 *
 * <p>Replicas share it through a {@link PlanStore}.
 *
 * <p>Reading and writing files needs {@code com.fasterxml.jackson.core:jackson-core} on the class
 * path.
 *
 * <p>Threading: immutable.
 *
 * @param pool the plan of the shared pool, or empty if it has none
 * @param steps the plans of sequences of requests
 */
public record KeptPlan(Optional<KeptPool> pool, List<KeptStep> steps) {

  /**
   * The version of the format that is written, which also reads those before. Part of the keys of a
   * {@link PlanStore}, so that processes of different versions share nothing.
   */
  public static final int FORMAT_VERSION = 3;

  /** The largest file that is read, in bytes: 256 MiB, some eight million requests. */
  public static final long MAX_FILE_BYTES = 256L << 20;

  /** Copies the list. */
  public KeptPlan {
    steps = List.copyOf(steps);
  }

  /** Whether there is nothing in it. Threading: any thread. */
  public boolean isEmpty() {
    return pool.isEmpty() && steps.isEmpty();
  }

  /**
   * Writes this plan to a file: beside it first, then in its place, so that a reader finds the old
   * plan or the new one. Steps whose key is no string and no number are left out.
   *
   * <p>A file that was there keeps its permissions, group and owner as far as the system lets the
   * caller set them, and a symbolic link stays and leads to the new plan; a new file has the
   * permissions that the umask leaves. What is no regular file, as a pipe, is written to directly.
   *
   * <p>Threading: any thread; of several that write one file the last wins.
   *
   * @return how many steps were left out
   * @throws IOException if it cannot be written; the file is as before then
   * @throws IllegalStateException if Jackson is not on the class path
   */
  public int save(Path file) throws IOException {
    KeptPlan kept = keepable();
    byte[] text = kept.encode();
    if (Files.exists(file) && !Files.isRegularFile(file)) {
      Files.write(file, text, StandardOpenOption.WRITE);
    } else {
      FileReplacement.make(
          file, newFile -> Files.write(newFile, text, StandardOpenOption.CREATE_NEW));
    }
    return steps.size() - kept.steps.size();
  }

  private KeptPlan keepable() {
    return new KeptPlan(pool, steps.stream().filter(KeptStep::canBeKept).toList());
  }

  /**
   * What {@link #save} writes. Steps whose key is no string and no number are left out.
   *
   * <p>Threading: any thread.
   *
   * @throws IllegalStateException if Jackson is not on the class path
   */
  public byte[] encode() {
    try {
      return PlanWriter.file(keepable());
    } catch (NoClassDefFoundError e) {
      throw withoutJackson(e);
    }
  }

  /**
   * Reads what {@link #encode} wrote.
   *
   * <p>Threading: any thread.
   *
   * @throws PlanFormatException if it is something else; the message says why
   * @throws IllegalStateException if Jackson is not on the class path
   */
  public static KeptPlan decode(byte[] text) {
    try {
      return PlanReader.read(text);
    } catch (NoClassDefFoundError e) {
      throw withoutJackson(e);
    }
  }

  /**
   * Reads a plan from a file.
   *
   * <p>Threading: any thread.
   *
   * @throws IOException if the file cannot be read; the message names the file
   * @throws PlanFormatException if it is not one that {@link #save} wrote: cut short, changed by
   *     hand, of a later version, or something else; the message names file and reason
   * @throws IllegalStateException if Jackson is not on the class path
   */
  public static KeptPlan load(Path file) throws IOException {
    return load(file, MAX_FILE_BYTES);
  }

  /** {@link #load(Path)} of at most so many bytes, less than 2 GiB - 1. */
  static KeptPlan load(Path file, long maxBytes) throws IOException {
    byte[] text;
    // What is no regular file, or grows meanwhile, has more bytes than it says.
    try (InputStream in = Files.newInputStream(file)) {
      long bytes = Files.size(file);
      text = bytes > maxBytes ? new byte[0] : in.readNBytes((int) maxBytes + 1);
      checkSize(file, Math.max(bytes, text.length), maxBytes);
    } catch (FileSystemException e) {
      throw e;
    } catch (IOException e) {
      // The system's message has the reason and no file, as of a directory.
      FileSystemException named = new FileSystemException(file.toString(), null, e.getMessage());
      named.initCause(e);
      throw named;
    }
    try {
      return decode(text);
    } catch (PlanFormatException e) {
      throw new PlanFormatException(file, e);
    }
  }

  private static void checkSize(Path file, long bytes, long most) {
    if (bytes > most) {
      throw new PlanFormatException(
          file + ": " + bytes + " bytes are more than a plan has; the most is " + most);
    }
  }

  private static IllegalStateException withoutJackson(NoClassDefFoundError e) {
    return new IllegalStateException(
        "plans in files need com.fasterxml.jackson.core:jackson-core on the class path", e);
  }
}
