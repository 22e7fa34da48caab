package io.prmalloc.trace;

import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The formats in which traces come.
 *
 * <p>Threading: immutable.
 */
public enum TraceFormat {
  /** Lines {@code a ID SIZE} and {@code f ID 0}; one file is one step. */
  EVENTS,
  /** A directory of profiler files of one model, and a batch. */
  MNN,
  /** CSV {@code id,lower,upper,size}: lives {@code [lower, upper)}. */
  LIFETIMES,
  /** CSV {@code id,size,first,last}: tasks, both included; sizes may be shapes, {@code 2x8}. */
  RECORDS,
  /** A graph, run once: JSON as {@link GraphReader} has it, a .tflite or an ONNX model. */
  GRAPH,
  /** What the recorder of a live allocator writes; the whole of it is one step. */
  RECORDING,
  /** What the malloc lab of "Computer Systems: A Programmer's Perspective" has: {@code .rep}. */
  MALLOC,
  /** What the tracer of idealloc writes: {@code .trc}. */
  IDEALLOC,
  /** A memory snapshot of PyTorch, as JSON; the history of one device is one step. */
  SNAPSHOT;

  private static final int START_BYTES = 16;
  private static final Set<String> SNAPSHOT_KEYS =
      Set.of(SnapshotReader.SEGMENTS, SnapshotReader.HISTORY);
  private static final Set<String> JSON_KEYS =
      Set.of(
          SnapshotReader.SEGMENTS, SnapshotReader.HISTORY, "inputs", "outputs", "nodes", "tensors");

  /** As the command line has it: {@code events}, {@code lifetimes}. Threading: any thread. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  private static String labels() {
    return Arrays.stream(values()).map(TraceFormat::label).collect(Collectors.joining(", "));
  }

  /**
   * Tells the format from the content, unpacked if it is compressed with gzip: a directory is
   * {@code mnn}, a file whose first line that is neither blank nor a comment starts with {@code a},
   * {@code f} or {@code r} and a blank is {@code events}, one whose first line names the columns of
   * {@code lifetimes} or {@code records} is that, one whose first line is a number is {@code
   * malloc}, one that starts with a brace is {@code snapshot} or {@code graph} by its keys, one
   * that has TensorFlow Lite's mark or name, or begins or is named as ONNX models are, is {@code
   * graph}, one with a recorder's mark is {@code recording}, one that starts with the code of a
   * call is {@code idealloc}.
   *
   * <p>Threading: any thread.
   *
   * @throws TraceFormatException if it is none of these, or an empty file; the message says what it
   *     is, if that is known
   * @throws UncheckedIOException if the file is not there or cannot be read
   */
  public static TraceFormat detect(Path path) {
    if (Files.isDirectory(path)) {
      return MNN;
    }
    if (GraphInput.isModel(path)) {
      return GRAPH;
    }
    if (RecordingTraces.isRecording(path)) {
      return RECORDING;
    }
    if (IdeallocReader.isTrace(InputFile.start(path, START_BYTES))) {
      return IDEALLOC;
    }
    TextLines.Start start = TextLines.startOf(TextLines.Source.of(path));
    if (start == null) {
      throw TraceFormatException.ofFile(path.toString(), "is empty");
    }
    if (start.text().matches("[afr]([ \t].*)?")) {
      return EVENTS;
    } else if (start.text().startsWith("{")) {
      // Before tables: a document may be one long line, which is not to be split into columns.
      String key = JsonReader.firstKey(path, JSON_KEYS);
      return key != null && SNAPSHOT_KEYS.contains(key) ? SNAPSHOT : GRAPH;
    } else if (LivesReader.isHeader(start.text(), LivesReader.LIFETIMES_COLUMNS)) {
      return LIFETIMES;
    } else if (LivesReader.isHeader(start.text(), LivesReader.RECORDS_COLUMNS)) {
      return RECORDS;
    } else if (MallocTraceReader.isHeader(start.text())) {
      return MALLOC;
    }
    InputFile.checkReadable(path);
    throw TraceFormatException.atLine(
        path.toString(),
        start.number(),
        "starts with `"
            + TextTable.shorten(start.text())
            + "`, which no known format does ("
            + labels()
            + ")");
  }

  /** As {@link #read(Path, Integer, Integer)}, of no certain device. Threading: any thread. */
  public Trace read(Path path, Integer batch) {
    return read(path, batch, null);
  }

  /**
   * As {@link #readLifetimes(Path, Integer, Integer)}, of no certain device. Threading: any thread.
   */
  public TensorLifetimes readLifetimes(Path path, Integer batch) {
    return readLifetimes(path, batch, null);
  }

  /**
   * Reads one step.
   *
   * <p>Threading: any thread.
   *
   * @param path a file, or for {@link #MNN} a directory
   * @param batch for {@link #MNN} which batch, from 1; null for the other formats
   * @param device for {@link #SNAPSHOT} which device, from 0; null for the only one, and for the
   *     other formats
   * @throws TraceFormatException if the file does not hold what the format asks for
   * @throws IllegalArgumentException if a batch or a device is given to a format that has none, or
   *     sizes are shapes
   * @throws UncheckedIOException if the file is not there or cannot be read
   */
  public Trace read(Path path, Integer batch, Integer device) {
    check(path, batch, device);
    return switch (this) {
      case MNN -> MnnReader.read(path, batch).toTrace();
      case EVENTS -> EventsReader.read(path.toString(), TextLines.Source.of(path));
      case LIFETIMES, RECORDS, GRAPH -> toTrace(readLifetimes(path, batch, device));
      case RECORDING -> RecordingTraces.read(path);
      case MALLOC -> MallocTraceReader.read(path.toString(), TextLines.Source.of(path));
      case IDEALLOC -> IdeallocReader.read(path.toString(), TextLines.Source.of(path));
      case SNAPSHOT -> SnapshotReader.read(path, device);
    };
  }

  private static Trace toTrace(TensorLifetimes tensors) {
    if (tensors.dimensions() > 1) {
      throw new IllegalArgumentException(
          tensors.name()
              + ": sizes of "
              + tensors.dimensions()
              + " dimensions are no bytes to allocate");
    }
    return tensors.toTrace();
  }

  /**
   * Reads one step as the lives of its tensors.
   *
   * <p>Threading: any thread.
   *
   * @param path a file, or for {@link #MNN} a directory
   * @param batch for {@link #MNN} which batch, from 1; null for the other formats
   * @param device for {@link #SNAPSHOT} which device, from 0; null for the only one, and for the
   *     other formats
   * @throws TraceFormatException if the file does not hold what the format asks for
   * @throws IllegalArgumentException if a batch or a device is given to a format that has none
   * @throws UncheckedIOException if the file is not there or cannot be read
   */
  public TensorLifetimes readLifetimes(Path path, Integer batch, Integer device) {
    check(path, batch, device);
    return switch (this) {
      case EVENTS, RECORDING, MALLOC, IDEALLOC, SNAPSHOT ->
          TensorLifetimes.of(read(path, batch, device));
      case MNN -> MnnReader.read(path, batch).toLifetimes();
      case LIFETIMES -> readTable(path, LivesReader.LIFETIMES_COLUMNS);
      case RECORDS -> readTable(path, LivesReader.RECORDS_COLUMNS);
      case GRAPH ->
          TensorLifetimes.of(
              path.toString(), new GraphInput(path.toString(), null, Map.of()).read());
    };
  }

  private static TensorLifetimes readTable(Path path, List<String> columns) {
    return LivesReader.read(path.toString(), TextLines.Source.of(path), columns);
  }

  private void check(Path path, Integer batch, Integer device) {
    checkAbsent(path, "--batch", this == MNN ? null : batch);
    checkAbsent(path, "--device", this == SNAPSHOT ? null : device);
  }

  private void checkAbsent(Path path, String option, Integer value) {
    if (value != null) {
      throw new IllegalArgumentException(
          option + " " + value + " means nothing to the format " + label() + " of " + path);
    }
  }
}
