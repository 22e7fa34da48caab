package io.prmalloc.trace;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What a user types for a trace: a path, or {@code sample:NAME} for a trace that comes with the
 * library.
 *
 * <p>Threading: immutable.
 *
 * @param text the path or {@code sample:NAME}
 * @param format how to read it, or null to tell it from the content
 * @param batch which batch of a profile, from 1, or null
 * @param device which device of a snapshot, from 0, or null
 * @param shapes what is set of a model that leaves it open, as {@link GraphInput} has it
 */
public record TraceInput(
    String text,
    TraceFormat format,
    Integer batch,
    Integer device,
    Map<String, List<Integer>> shapes) {

  private static final String SAMPLE = "sample:";

  /**
   * Threading: any thread.
   *
   * @throws IllegalArgumentException if the path is empty, which would be the current directory
   */
  public TraceInput {
    if (text.isEmpty()) {
      throw new IllegalArgumentException("the input is an empty path");
    }
  }

  /**
   * An input that is no snapshot, or one of a single device, and leaves no shape open.
   *
   * <p>Threading: any thread.
   */
  public TraceInput(String text, TraceFormat format, Integer batch) {
    this(text, format, batch, null, Map.of());
  }

  /**
   * Reads the step.
   *
   * <p>Threading: any thread.
   *
   * @throws TraceFormatException if the file does not hold a trace
   * @throws IllegalArgumentException if there is no such sample, the options do not fit the input,
   *     or sizes are shapes
   * @throws java.io.UncheckedIOException if the file is not there or cannot be read
   */
  public Trace read() {
    if (text.startsWith(SAMPLE)) {
      return Samples.read(sampleName());
    }
    Path path = Path.of(text);
    return InputFile.inHeap(
        text,
        () ->
            shapes.isEmpty() ? format(path).read(path, batch, device) : readShaped(path).toTrace());
  }

  /**
   * Reads the step as the lives of its tensors.
   *
   * <p>Threading: any thread.
   *
   * @throws TraceFormatException if the file does not hold a trace
   * @throws IllegalArgumentException if there is no such sample, or the options do not fit the
   *     input
   * @throws java.io.UncheckedIOException if the file is not there or cannot be read
   */
  public TensorLifetimes readLifetimes() {
    if (text.startsWith(SAMPLE)) {
      return Samples.lifetimes(sampleName());
    }
    Path path = Path.of(text);
    return InputFile.inHeap(
        text,
        () ->
            shapes.isEmpty() ? format(path).readLifetimes(path, batch, device) : readShaped(path));
  }

  private TensorLifetimes readShaped(Path path) {
    if (format(path) != TraceFormat.GRAPH || batch != null || device != null) {
      throw new IllegalArgumentException(
          "--shape "
              + shapes.keySet().iterator().next()
              + " means nothing to the format "
              + format(path).label()
              + (batch == null ? "" : " with --batch " + batch)
              + (device == null ? "" : " with --device " + device)
              + " of "
              + text);
    }
    return TensorLifetimes.of(text, new GraphInput(text, null, shapes).read());
  }

  /**
   * Reads the step with its operators and their times, which only profiles have.
   *
   * <p>Threading: any thread.
   *
   * @throws TraceFormatException if the files do not hold a profile
   * @throws IllegalArgumentException if the input is no profile
   * @throws java.io.UncheckedIOException if a file cannot be read
   */
  public MnnProfile readProfile() {
    if (text.startsWith(SAMPLE)) {
      throw noProfile("a sample");
    }
    TraceFormat found = format(Path.of(text));
    if (found != TraceFormat.MNN) {
      throw noProfile("of the format " + found.label());
    }
    return MnnReader.read(Path.of(text), batch);
  }

  /**
   * Whether the input is a profile, so that {@link #readProfile} makes sense.
   *
   * <p>Threading: any thread.
   *
   * @throws TraceFormatException if the format is to be told from the content, and cannot be
   * @throws java.io.UncheckedIOException if the file is not there or cannot be read
   */
  public boolean isProfile() {
    return !text.startsWith(SAMPLE) && format(Path.of(text)) == TraceFormat.MNN;
  }

  /**
   * Whether the input is a table of tensors that is not compressed.
   *
   * <p>Threading: any thread.
   *
   * @throws TraceFormatException if the format is to be told from the content, and cannot be
   * @throws java.io.UncheckedIOException if the file is not there or cannot be read
   */
  public boolean isPlainTable() {
    TraceFormat found = detectedFormat();
    return (found == TraceFormat.LIFETIMES || found == TraceFormat.RECORDS)
        && !InputFile.isCompressed(Path.of(text));
  }

  /**
   * Whether the input is a recording of a live allocator.
   *
   * <p>Threading: any thread.
   *
   * @throws TraceFormatException if the format is to be told from the content, and cannot be
   * @throws java.io.UncheckedIOException if the file is not there or cannot be read
   */
  public boolean isRecording() {
    return detectedFormat() == TraceFormat.RECORDING;
  }

  /**
   * What is to be said of an input that can be read and yet is not all there was: a recording that
   * was cut short, is damaged or ended before its time, a model whose shapes are open or with
   * values of unknown size, or a table with columns that have no meaning. Reads a recording to its
   * end, and a model again.
   *
   * <p>Threading: any thread.
   *
   * @return how much was read, up to where and why; empty if nothing is missing
   * @throws io.prmalloc.recording.RecordingFormatException if a recording holds what cannot be
   * @throws java.io.UncheckedIOException if the file is not there or cannot be read
   */
  public Optional<String> warning() {
    TraceFormat found = detectedFormat();
    if (found == TraceFormat.GRAPH) {
      return new GraphInput(text, null, shapes).warning();
    }
    Optional<String> warning = Optional.empty();
    if (found == TraceFormat.RECORDING) {
      warning = RecordingTraces.warning(Path.of(text));
    } else if (found == TraceFormat.LIFETIMES || found == TraceFormat.RECORDS) {
      warning =
          Optional.ofNullable(TextLines.startOf(TextLines.Source.of(Path.of(text))))
              .flatMap(start -> LivesReader.warning(start.text()));
    }
    return warning.map(what -> text + ": " + what);
  }

  /**
   * What is to be said of a table whose constraints are not observed, because it is read as a
   * trace.
   *
   * <p>Threading: any thread.
   *
   * @return which columns; empty if it has none, or the input is no table
   * @throws java.io.UncheckedIOException if the file is not there or cannot be read
   */
  public Optional<String> constraintsWarning() {
    TraceFormat found = detectedFormat();
    if (found != TraceFormat.LIFETIMES && found != TraceFormat.RECORDS) {
      return Optional.empty();
    }
    return Optional.ofNullable(TextLines.startOf(TextLines.Source.of(Path.of(text))))
        .map(start -> LivesReader.constraintColumns(start.text()))
        .filter(columns -> !columns.isEmpty())
        .map(columns -> text + ": only plan observes the columns " + String.join(", ", columns));
  }

  private TraceFormat format(Path path) {
    return format == null ? TraceFormat.detect(path) : format;
  }

  private IllegalArgumentException noProfile(String what) {
    return new IllegalArgumentException(
        text
            + ": is "
            + what
            + ", which knows no operators and times; a directory of profiler files does (mnn)");
  }

  /** The format that was said or is told from the content; null for a sample. */
  TraceFormat detectedFormat() {
    if (text.startsWith(SAMPLE)) {
      return null;
    }
    return format == null ? TraceFormat.detect(Path.of(text)) : format;
  }

  private String sampleName() {
    if (format != null || batch != null || device != null) {
      throw new IllegalArgumentException(text + " takes no --format, --batch or --device");
    }
    if (!shapes.isEmpty()) {
      throw new IllegalArgumentException(text + " takes no --shape");
    }
    return text.substring(SAMPLE.length());
  }
}
