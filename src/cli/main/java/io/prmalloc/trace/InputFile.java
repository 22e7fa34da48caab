package io.prmalloc.trace;

import io.prmalloc.model.FileInput;
import io.prmalloc.recording.RecordingReader;
import java.io.BufferedInputStream;
import java.io.ByteArrayInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipException;

/**
 * Opens files for readers. What is compressed with gzip, which its content tells, is unpacked as it
 * is read, so that it takes no more memory than a file that is not. A file of a kind that is not
 * read here is refused by the name of its kind.
 *
 * <p>Threading: stateless.
 */
public final class InputFile {

  private static final int BUFFER_BYTES = 1 << 16;

  /** As many as the mark of a tar archive needs. */
  private static final int START_BYTES = 512;

  private record Kind(int offset, String mark, String name) {}

  // Marks are bytes: characters of ISO 8859-1.
  private static final List<Kind> KINDS =
      List.of(
          new Kind(0, "PK\3\4", "a zip archive, such as torch.save() and NumPy write,"),
          new Kind(0, "PK\5\6", "an empty zip archive"),
          new Kind(0, "\u001f\u008b", "a gzip file within a gzip file"),
          new Kind(0, "\u00fd7zXZ\0", "an xz file"),
          new Kind(0, "(\u00b5/\u00fd", "a Zstandard file"),
          new Kind(0, "BZh", "a bzip2 file"),
          new Kind(0, "\4\"M\30", "an LZ4 file"),
          new Kind(0, "7z\u00bc\u00af\47\34", "a 7-Zip archive"),
          new Kind(257, "ustar", "a tar archive"),
          new Kind(0, "\u0089HDF\r\n\32\n", "an HDF5 file"),
          new Kind(0, "\u0093NUMPY", "a NumPy array"),
          new Kind(0, "GGUF", "a GGUF model"),
          new Kind(5, "\0\0\0{\"", "a safetensors file"),
          new Kind(0, "PAR1", "a Parquet file"),
          new Kind(0, "ARROW1", "an Arrow file"),
          new Kind(0, "SQLite format 3", "an SQLite database"),
          new Kind(0, "\u00d0\u00cf\21\u00e0", "an old Office document"),
          new Kind(0, "JAVA PROFILE", "a dump of a Java heap"),
          new Kind(0, "FLR\0", "a recording of Java Flight Recorder"),
          new Kind(0, "\u007fELF", "an ELF program or library"),
          new Kind(0, "\u00ca\u00fe\u00ba\u00be", "a Java class"),
          new Kind(0, "\u0089PNG", "a PNG picture"),
          new Kind(0, "%PDF", "a PDF document"),
          new Kind(0, "<", "a page of HTML or XML"),
          new Kind(0, "[", "a list in JSON, such as torch.cuda.memory_snapshot() answers,"),
          new Kind(0, "\u00ff\u00fe\0\0", "text in UTF-32, which must be UTF-8,"),
          new Kind(0, "\0\0\u00fe\u00ff", "text in UTF-32, which must be UTF-8,"),
          new Kind(0, "\u00ff\u00fe", "text in UTF-16, which must be UTF-8,"),
          new Kind(0, "\u00fe\u00ff", "text in UTF-16, which must be UTF-8,"));

  private InputFile() {}

  /**
   * What the file holds, unpacked if it is compressed. What comes out of a pipe can be had again
   * while {@link Pipes} are kept.
   *
   * <p>Threading: any thread; the stream is for one thread.
   *
   * @throws IOException if it is not there or cannot be read
   * @throws TraceFormatException if it is a directory or a device; by this or by the stream, if it
   *     is compressed and damaged
   */
  public static InputStream open(Path path) throws IOException {
    InputStream in = new BufferedInputStream(openPacked(path), BUFFER_BYTES);
    try {
      return isGzip(in) ? new BufferedInputStream(new Unpacked(path, in), BUFFER_BYTES) : in;
    } catch (Throwable e) {
      in.close();
      throw e;
    }
  }

  private static InputStream openPacked(Path path) throws IOException {
    Optional<byte[]> piped = Pipes.read(path);
    return piped.isPresent() ? new ByteArrayInputStream(piped.get()) : FileInput.open(path);
  }

  /**
   * Opens a recording, which may be compressed with gzip.
   *
   * <p>Threading: any thread.
   *
   * @throws io.prmalloc.recording.RecordingFormatException if it is no recording or of a version
   *     that is not known here
   * @throws TraceFormatException if it is compressed and damaged
   * @throws UncheckedIOException if it is not there or cannot be read
   */
  public static RecordingReader openRecording(Path path) {
    try {
      return RecordingReader.open(open(path));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static boolean isGzip(InputStream in) throws IOException {
    in.mark(2);
    byte[] start = in.readNBytes(2);
    in.reset();
    return start.length == 2 && start[0] == 0x1f && start[1] == (byte) 0x8b;
  }

  /** Unpacks, and names the file where it is damaged. Threading: one thread at a time. */
  private static final class Unpacked extends InputStream {

    private final Path path;
    private final InputStream in;

    Unpacked(Path path, InputStream packed) throws IOException {
      this.path = path;
      try {
        this.in = new GZIPInputStream(packed, BUFFER_BYTES);
      } catch (EOFException | ZipException damaged) {
        throw refusal(damaged);
      }
    }

    private TraceFormatException refusal(IOException damaged) {
      return TraceFormatException.ofFile(
          path.toString(),
          damaged instanceof EOFException
              ? "is a gzip file that is cut off"
              : "is a damaged gzip file: " + damaged.getMessage());
    }

    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : Byte.toUnsignedInt(one[0]);
    }

    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
      try {
        return in.read(bytes, offset, length);
      } catch (EOFException | ZipException damaged) {
        throw refusal(damaged);
      }
    }

    @Override
    public void close() throws IOException {
      in.close();
    }
  }

  /**
   * The first bytes of what the file holds, fewer if it holds fewer.
   *
   * <p>Threading: any thread.
   *
   * @throws UncheckedIOException if it is not there or cannot be read
   * @throws TraceFormatException if it is compressed and damaged there
   */
  static byte[] start(Path path, int length) {
    try (InputStream in = open(path)) {
      return in.readNBytes(length);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * All that a file holds, for readers that go back and forth. Of more than 2 GiB only the first 2
   * GiB.
   *
   * <p>Threading: any thread.
   *
   * @throws UncheckedIOException if it is not there or cannot be read
   * @throws TraceFormatException if it is compressed and damaged
   */
  static ByteBuffer bytes(Path path) {
    return ByteBuffer.wrap(start(path, Integer.MAX_VALUE - 8));
  }

  /**
   * Reads something into the heap. What does not fit is bad input: a large file, or a small one
   * that unpacks to one.
   *
   * <p>Threading: any thread.
   *
   * @param file what errors call the file
   * @throws TraceFormatException if it does not fit
   */
  public static <T> T inHeap(String file, Supplier<T> reading) {
    try {
      return reading.get();
    } catch (OutOfMemoryError tooLarge) {
      throw TraceFormatException.ofFile(
          file,
          "does not fit into the heap of "
              + Runtime.getRuntime().maxMemory()
              + " bytes, which java -Xmx makes larger");
    }
  }

  /**
   * Whether the file is compressed with gzip.
   *
   * <p>Threading: any thread.
   *
   * @throws UncheckedIOException if it is not there or cannot be read
   */
  static boolean isCompressed(Path path) {
    try (InputStream in = new BufferedInputStream(openPacked(path), 2)) {
      return isGzip(in);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Whether readers that open a file by its path find there what it holds: it is neither compressed
   * nor a pipe.
   *
   * <p>Threading: any thread.
   *
   * @throws UncheckedIOException if it is not there or cannot be read
   */
  static boolean isPlain(Path path) {
    return !isCompressed(path) && Pipes.contentOf(path).isEmpty();
  }

  /**
   * Refuses a file of a kind that is known, and not read here.
   *
   * <p>Threading: any thread.
   *
   * @throws TraceFormatException if the file is of such a kind; the message names it
   * @throws UncheckedIOException if it is not there or cannot be read
   */
  static void checkReadable(Path path) {
    byte[] bytes = start(path, START_BYTES);
    String start = new String(bytes, StandardCharsets.ISO_8859_1);
    if (start.length() > 1 && start.charAt(0) == 0x80 && start.charAt(1) <= 5) {
      throw TraceFormatException.ofFile(path.toString(), pickle(path, start));
    }
    Optional<Kind> kind =
        KINDS.stream().filter(each -> start.startsWith(each.mark, each.offset)).findFirst();
    if (kind.isPresent()) {
      throw TraceFormatException.ofFile(
          path.toString(), "is " + kind.get().name + " and not read here");
    }
  }

  private static String pickle(Path path, String start) {
    boolean snapshot = start.contains("segments") || start.contains("device_traces");
    boolean packed = isCompressed(path);
    return "is a "
        + (snapshot ? "PyTorch" : "Python")
        + " pickle, which only Python reads; "
        + (snapshot ? "" : "if it is a memory snapshot of PyTorch, ")
        + "this makes JSON of it: python3 -c 'import gzip, json, pickle, sys;"
        + " json.dump(pickle.load("
        + (packed ? "gzip." : "")
        + "open(sys.argv[1], \"rb\")), open(sys.argv[2], \"w\"))' "
        + quoted(path.toString())
        + " "
        + quoted(path + ".json");
  }

  /** A word as a shell takes it. */
  private static String quoted(String word) {
    return word.matches("[A-Za-z0-9_./-]+") ? word : "'" + word.replace("'", "'\\''") + "'";
  }
}
