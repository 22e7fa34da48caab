package io.prmalloc.trace;

import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
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
  /** A graph, run once: JSON as {@link GraphReader} has it, or a model of TensorFlow Lite. */
  GRAPH,
  /** What the recorder of a live allocator writes; the whole of it is one step. */
  RECORDING;

  /** As the command line has it: {@code events}, {@code lifetimes}. Threading: any thread. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  private static String labels() {
    return Arrays.stream(values()).map(TraceFormat::label).collect(Collectors.joining(", "));
  }

  /**
   * Tells the format from the content: a directory is {@code mnn}, a file whose first line that is
   * not blank starts with {@code a} or {@code f} and a blank is {@code events}, one whose first
   * line names the columns of {@code lifetimes} or {@code records} is that, one that starts with a
   * brace, or has TensorFlow Lite's mark or name, is {@code graph}, one with a recorder's mark is
   * {@code recording}.
   *
   * <p>Threading: any thread.
   *
   * @throws TraceFormatException if it is none of these, or an empty file
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
    TextLines.Start start = TextLines.startOf(TextLines.Source.of(path));
    if (start == null) {
      throw TraceFormatException.ofFile(path.toString(), "is empty");
    }
    if (start.text().matches("[af]([ \t].*)?")) {
      return EVENTS;
    } else if (LivesReader.isHeader(start.text(), LivesReader.LIFETIMES_COLUMNS)) {
      return LIFETIMES;
    } else if (LivesReader.isHeader(start.text(), LivesReader.RECORDS_COLUMNS)) {
      return RECORDS;
    } else if (start.text().startsWith("{")) {
      return GRAPH;
    }
    throw TraceFormatException.atLine(
        path.toString(),
        start.number(),
        "starts with `"
            + EventsReader.shorten(start.text())
            + "`, which no known format does ("
            + labels()
            + ")");
  }

  /**
   * Reads one step.
   *
   * <p>Threading: any thread.
   *
   * @param path a file, or for {@link #MNN} a directory
   * @param batch for {@link #MNN} which batch, from 1; null for the other formats
   * @throws TraceFormatException if the file does not hold what the format asks for
   * @throws IllegalArgumentException if a batch is given to a format that has none
   * @throws UncheckedIOException if the file is not there or cannot be read
   */
  public Trace read(Path path, Integer batch) {
    return switch (this) {
      case MNN -> MnnReader.read(path, batch).toTrace();
      case EVENTS -> EventsReader.read(path.toString(), source(path, batch));
      case LIFETIMES, RECORDS, GRAPH -> readLifetimes(path, batch).toTrace();
      case RECORDING -> {
        checkNoBatch(path, batch);
        yield RecordingTraces.read(path);
      }
    };
  }

  /**
   * Reads one step as the lives of its tensors.
   *
   * <p>Threading: any thread.
   *
   * @param path a file, or for {@link #MNN} a directory
   * @param batch for {@link #MNN} which batch, from 1; null for the other formats
   * @throws TraceFormatException if the file does not hold what the format asks for
   * @throws IllegalArgumentException if a batch is given to a format that has none
   * @throws UncheckedIOException if the file is not there or cannot be read
   */
  public TensorLifetimes readLifetimes(Path path, Integer batch) {
    return switch (this) {
      case EVENTS, RECORDING -> TensorLifetimes.of(read(path, batch));
      case MNN -> MnnReader.read(path, batch).toLifetimes();
      case LIFETIMES ->
          LivesReader.read(path.toString(), source(path, batch), LivesReader.LIFETIMES_COLUMNS);
      case RECORDS ->
          LivesReader.read(path.toString(), source(path, batch), LivesReader.RECORDS_COLUMNS);
      case GRAPH -> {
        checkNoBatch(path, batch);
        yield TensorLifetimes.of(path.toString(), new GraphInput(path.toString(), null).read());
      }
    };
  }

  private void checkNoBatch(Path path, Integer batch) {
    if (batch != null) {
      throw new IllegalArgumentException(
          "--batch " + batch + " means nothing to the format " + label() + " of " + path);
    }
  }

  private TextLines.Source source(Path path, Integer batch) {
    checkNoBatch(path, batch);
    return TextLines.Source.of(path);
  }
}
