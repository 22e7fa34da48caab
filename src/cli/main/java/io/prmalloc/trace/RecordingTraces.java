package io.prmalloc.trace;

import io.prmalloc.recording.RecordingEnd;
import io.prmalloc.recording.RecordingFormatException;
import io.prmalloc.recording.RecordingReader;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Reads the {@code recording} format: what the recorder of a live allocator writes. The whole
 * recording is one step; what it saw allocated and not released lives to the end.
 *
 * <p>Threading: stateless.
 */
final class RecordingTraces {

  private RecordingTraces() {}

  /** Told by the first bytes. */
  static boolean isRecording(Path path) {
    return RecordingReader.isRecording(InputFile.start(path, 8));
  }

  /**
   * Threading: any thread.
   *
   * @throws TraceFormatException if it is no recording, or holds what cannot be
   * @throws UncheckedIOException if it cannot be read
   */
  static Trace read(Path path) {
    String file = path.toString();
    Trace.Builder trace = Trace.builder(file);
    try (RecordingReader events = InputFile.openRecording(path)) {
      while (events.next()) {
        switch (events.kind()) {
          case ALLOCATE -> trace.allocate(Long.toString(events.id()), events.sizeBytes());
          case RELEASE -> trace.release(Long.toString(events.id()));
          case OPEN_STEP, CLOSE_STEP -> {}
        }
      }
      Trace read = trace.build();
      if (read.tensorCount() == 0) {
        String why = events.damage().map(damage -> "; it " + damage).orElse("");
        throw TraceFormatException.ofFile(file, "holds no allocation" + why);
      }
      return read;
    } catch (RecordingFormatException | IllegalArgumentException wrong) {
      throw TraceFormatException.ofFile(file, wrong.getMessage());
    }
  }

  /** What is wrong with a recording although it can be read; empty if it is whole. */
  static Optional<String> whatIsMissing(Path path) {
    return Extent.of(path)
        .map(
            read ->
                read.damage != null
                    ? "what the recording held after its damage: it " + read.damage
                    : "what was not recorded any more: the recording ended " + read.end);
  }

  /** What a reader of the recording is to be told; empty if it is whole. */
  static Optional<String> warning(Path path) {
    return Extent.of(path)
        .map(
            read ->
                read.damage != null
                    ? "the recording is cut short: it "
                        + read.damage
                        + "; read were the "
                        + read.events
                        + " events before"
                    : "the recording ended "
                        + read.end
                        + ", before its time: read were all its "
                        + read.events
                        + " events; at least "
                        + read.unrecorded
                        + " later ones are not in it");
  }

  /**
   * How far a recording goes that is not whole.
   *
   * @param damage why it is read no further, or null
   * @param end null if it is damaged
   */
  private record Extent(long events, String damage, RecordingEnd end, long unrecorded) {

    static Optional<Extent> of(Path path) {
      try (RecordingReader reader = InputFile.openRecording(path)) {
        long events = 0;
        while (reader.next()) {
          events++;
        }
        String damage = reader.damage().orElse(null);
        RecordingEnd end = reader.end().orElse(null);
        long unrecorded = reader.unrecordedEvents();
        boolean whole = damage == null && unrecorded == 0 && end != RecordingEnd.FULL;
        return whole ? Optional.empty() : Optional.of(new Extent(events, damage, end, unrecorded));
      }
    }
  }
}
