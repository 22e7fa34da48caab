package io.prmalloc.trace;

import io.prmalloc.recording.RecordingEnd;
import io.prmalloc.recording.RecordingFormatException;
import io.prmalloc.recording.RecordingReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
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
    try (var in = Files.newInputStream(path)) {
      return RecordingReader.isRecording(in.readNBytes(8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
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
    try (RecordingReader events = RecordingReader.open(path)) {
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
    try (RecordingReader events = RecordingReader.open(path)) {
      while (events.next()) {}
      if (events.damage().isPresent()) {
        return Optional.of("what the recording held after its damage: it " + events.damage().get());
      }
      RecordingEnd end = events.end().orElseThrow();
      return events.unrecordedEvents() == 0 && end != RecordingEnd.FULL
          ? Optional.empty()
          : Optional.of("what was not recorded any more: the recording ended " + end);
    }
  }
}
