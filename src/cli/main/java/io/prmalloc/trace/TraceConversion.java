package io.prmalloc.trace;

import io.prmalloc.recording.Recorder;
import io.prmalloc.recording.RecordingOptions;
import java.io.IOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * A trace that is to be written in another format, and the content that the format cannot hold.
 *
 * <p>Threading: immutable.
 */
public final class TraceConversion {

  // What every target holds is the step as planners see it: tensors, their sizes, and which of them
  // are alive together. What is beside that (threads, names, operators) is a loss that is said.
  // What touches it changes the meaning: sizes that are shapes become numbers of elements, and a
  // recording that was cut off becomes a file that looks whole.

  /**
   * Something that the target cannot hold.
   *
   * @param what it is, as the end of "lost: "
   * @param changesMeaning whether tensors, sizes or which tensors live together change
   */
  public record Loss(String what, boolean changesMeaning) {}

  private final TraceFormat target;
  private final Trace trace;
  private final TensorLifetimes lives;
  private final List<Loss> losses = new ArrayList<>();
  private final Optional<String> warning;

  private TraceConversion(TraceInput input, TraceFormat target) {
    this.target = target;
    TraceFormat source = input.detectedFormat();
    switch (target) {
      case EVENTS, RECORDING -> {
        lives =
            source == null || isTable(source) || source == TraceFormat.GRAPH
                ? input.readLifetimes()
                : null;
        trace = lives == null ? input.read() : lives.toTrace();
      }
      case LIFETIMES, RECORDS -> {
        lives = input.readLifetimes();
        trace = null;
      }
      case MALLOC, IDEALLOC, SNAPSHOT ->
          throw new IllegalArgumentException(
              "the format "
                  + target.label()
                  + " is another program's and read only; events holds the same");
      case MNN, GRAPH ->
          throw new IllegalArgumentException(
              "the format "
                  + target.label()
                  + " has operators, which no trace tells; it is read only");
      default -> throw new AssertionError(target);
    }
    warning = source == TraceFormat.GRAPH ? input.warning() : Optional.empty();
    addSourceLosses(source, input.text());
    addTargetLosses(source);
  }

  private static boolean isTable(TraceFormat format) {
    return format == TraceFormat.LIFETIMES || format == TraceFormat.RECORDS;
  }

  /**
   * Reads a trace that is to be converted.
   *
   * <p>Threading: any thread.
   *
   * @param target {@link TraceFormat#EVENTS}, {@link TraceFormat#LIFETIMES}, {@link
   *     TraceFormat#RECORDS} or {@link TraceFormat#RECORDING}
   * @throws TraceFormatException if the file does not hold a trace
   * @throws IllegalArgumentException if the target is one that is only read, or an id cannot be
   *     written in it
   * @throws java.io.UncheckedIOException if the file cannot be read
   */
  public static TraceConversion of(TraceInput input, TraceFormat target) {
    TraceConversion conversion = new TraceConversion(input, target);
    conversion.checkIds();
    return conversion;
  }

  private void checkIds() {
    if (target == TraceFormat.EVENTS) {
      for (int tensor = 0; tensor < trace.tensorCount(); tensor++) {
        if (trace.id(tensor).chars().anyMatch(Character::isWhitespace)) {
          throw new IllegalArgumentException(
              "the id `"
                  + TextTable.shorten(trace.id(tensor))
                  + "` holds a blank, which ids in events cannot");
        }
      }
    }
  }

  private void addSourceLosses(TraceFormat source, String file) {
    List<String> columns = lives == null ? List.of() : lives.furtherColumns(isTable(target));
    if (!columns.isEmpty()) {
      lose("the columns " + TextTable.shorten(String.join(", ", columns)));
    }
    if (source == target) {
      return;
    }
    if (source == TraceFormat.MNN) {
      lose("which operator a tensor belongs to, and the operators' times");
    } else if (source == TraceFormat.GRAPH) {
      lose(
          "the graph's nodes, and tensors that are in no arena"
              + (isTable(target) || lives.constraints().isEmpty() ? "" : ", and fixed offsets"));
    } else if (source == TraceFormat.RECORDING) {
      lose("threads, alignments, steps and times");
    } else if (source == TraceFormat.MALLOC) {
      lose("which releases and allocations were one reallocation");
    } else if (source == TraceFormat.IDEALLOC) {
      lose("threads, alignments, and which releases and allocations were one reallocation");
    } else if (source == TraceFormat.SNAPSHOT) {
      lose("times, streams, segments and stack traces");
    }
    if (source == TraceFormat.RECORDING) {
      RecordingTraces.whatIsMissing(Path.of(file))
          .ifPresent(missing -> losses.add(new Loss(missing, true)));
    }
  }

  private void addTargetLosses(TraceFormat source) {
    if (lives != null && lives.shapedRecords().isPresent() && target != TraceFormat.RECORDS) {
      losses.add(
          new Loss("shapes: sizes become their numbers of elements, and are read as bytes", true));
    }
    if (trace != null && lives != null) {
      lose("the numbers of the tasks: only their order is kept");
    }
    if (lives != null && trace == null && !(source != null && isTable(source))) {
      Set<String> ids = new HashSet<>(lives.ids());
      if (lives.ids().stream().anyMatch(id -> isRepeated(id, ids))) {
        lose("ids that come again: each but the first has #2 and so on behind it");
      }
    }
    if (target == TraceFormat.RECORDING && source != TraceFormat.RECORDING) {
      lose("ids: a recording numbers its allocations");
    }
  }

  private static boolean isRepeated(String id, Set<String> ids) {
    int mark = id.lastIndexOf('#');
    return mark > 0 && ids.contains(id.substring(0, mark));
  }

  private void lose(String what) {
    losses.add(new Loss(what, false));
  }

  /** What the target cannot hold. Threading: any thread. */
  public List<Loss> losses() {
    return List.copyOf(losses);
  }

  /**
   * What is to be said of a graph that is not all there was: open shapes, values of unknown size,
   * an offline plan that is not kept. Threading: any thread.
   */
  public Optional<String> warning() {
    return warning;
  }

  /** Whether something is lost that changes the meaning. Threading: any thread. */
  public boolean changesMeaning() {
    return losses.stream().anyMatch(Loss::changesMeaning);
  }

  /** How many tensors are written. Threading: any thread. */
  public int tensorCount() {
    return trace != null ? trace.tensorCount() : lives.count();
  }

  /**
   * Writes the file.
   *
   * <p>Threading: any thread.
   *
   * @param file must not be there yet
   * @throws IOException if it cannot be written; there may be a part of it then
   */
  public void write(Path file) throws IOException {
    if (target == TraceFormat.RECORDING) {
      writeRecording(file);
      return;
    }
    try (Writer out =
        Files.newBufferedWriter(file, StandardCharsets.UTF_8, StandardOpenOption.CREATE_NEW)) {
      if (target == TraceFormat.EVENTS) {
        EventsReader.write(trace, out);
      } else {
        LivesReader.write(
            lives,
            target == TraceFormat.LIFETIMES
                ? LivesReader.LIFETIMES_COLUMNS
                : LivesReader.RECORDS_COLUMNS,
            out);
      }
    }
  }

  private void writeRecording(Path file) throws IOException {
    RecordingOptions patient =
        RecordingOptions.DEFAULT
            .withMaxBytes(Long.MAX_VALUE)
            .withBufferedEvents(1 << 14)
            .withLongestWait(Duration.ofDays(1));
    long[] ids = new long[trace.tensorCount()];
    Recorder recorder = Recorder.start(file, patient, () -> {});
    try (recorder) {
      for (int i = 0; i < trace.eventCount(); i++) {
        int event = trace.event(i);
        if (event >= 0) {
          ids[event] = recorder.allocated(trace.sizeBytes(event), 1);
        } else {
          recorder.released(ids[~event]);
        }
      }
    }
    if (recorder.events() != trace.eventCount()) {
      throw new IOException(file + ": was not written to its end");
    }
  }
}
