package io.prmalloc.recording;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Recordings as lists of text, for tests. */
public final class Recordings {

  private Recordings() {}

  /**
   * Every event, as {@code a ID SIZE ALIGNMENT STEP}, {@code f ID STEP}, {@code ( STEP} and {@code
   * ) STEP}. Fails if something is released that is not out.
   */
  public static List<String> events(Path file) {
    List<String> events = new ArrayList<>();
    Set<Long> out = new HashSet<>();
    try (RecordingReader reader = RecordingReader.open(file)) {
      while (reader.next()) {
        if (reader.tick() != events.size()) {
          throw new AssertionError("tick " + reader.tick() + " of event " + events.size());
        }
        events.add(text(reader));
        boolean right =
            switch (reader.kind()) {
              case ALLOCATE -> out.add(reader.id());
              case RELEASE -> out.remove(reader.id());
              case OPEN_STEP, CLOSE_STEP -> true;
            };
        if (!right) {
          throw new AssertionError(events.get(events.size() - 1) + " at " + reader.tick());
        }
      }
    }
    return events;
  }

  private static String text(RecordingReader event) {
    return switch (event.kind()) {
      case ALLOCATE ->
          "a "
              + event.id()
              + " "
              + event.sizeBytes()
              + " "
              + event.alignment()
              + " "
              + event.step();
      case RELEASE -> "f " + event.id() + " " + event.step();
      case OPEN_STEP -> "( " + event.step();
      case CLOSE_STEP -> ") " + event.step();
    };
  }

  /** How a file ends: the reason, or what is wrong with it. */
  public static String end(Path file) {
    try (RecordingReader reader = RecordingReader.open(file)) {
      while (reader.next()) {}
      return reader.end().map(Enum::name).or(reader::damage).orElseThrow();
    }
  }
}
