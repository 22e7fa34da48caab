package io.prmalloc.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.recording.Recorder;
import io.prmalloc.recording.RecordingOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The warning of every command that reads a recording that is not whole. */
class RecordingWarningTest {

  private static final String LEARN = "learn --steps 2";
  private static final String PLAN = "plan --strategy greedy-by-size";
  private static final String SIMULATE = "simulate";
  private static final String REPLAY =
      "replay --steps 2 --settle 0 --warmup-steps 2 --allocator cpu";

  @TempDir private Path directory;

  private Path record(RecordingOptions options, int pairs) {
    Path file = directory.resolve("server.rec");
    try (Recorder recorder = Recorder.start(file, options, () -> {})) {
      for (int i = 0; i < pairs && recorder.end().isEmpty(); i++) {
        recorder.released(recorder.allocated(40_000 + i % 10, 64));
      }
    }
    return file;
  }

  private static Outcome run(String command, Path file) {
    String[] words = command.split(" ", -1);
    return Outcome.of(
        Stream.concat(Arrays.stream(words), Stream.of("" + file)).toArray(String[]::new));
  }

  private static void check(Outcome outcome, String warning) {
    assertEquals(0, outcome.exitCode(), outcome.err());
    assertTrue(outcome.err().startsWith("prmalloc: warning: "), outcome.err());
    assertTrue(outcome.err().contains(warning), outcome.err());
    assertFalse(outcome.out().contains("warning"), outcome.out());
    assertFalse(outcome.out().isEmpty());
  }

  @ParameterizedTest
  @ValueSource(strings = {LEARN, PLAN, SIMULATE, REPLAY})
  void shouldSayNothingWhenTheRecordingIsWhole(String command) {
    Outcome outcome = run(command, record(RecordingOptions.DEFAULT, 20));

    assertEquals(0, outcome.exitCode(), outcome.err());
    assertEquals("", outcome.err());
  }

  @ParameterizedTest
  @ValueSource(strings = {LEARN, PLAN, SIMULATE, REPLAY})
  void shouldSayUpToWhereWhenTheRecordingIsCutShort(String command) throws IOException {
    Path file = record(RecordingOptions.DEFAULT, 20);
    byte[] bytes = Files.readAllBytes(file);
    Files.write(file, Arrays.copyOf(bytes, bytes.length - 1));

    check(
        run(command, file),
        file
            + ": the recording is cut short: it is cut off at byte "
            + endFrameAt(bytes)
            + "; read were the 40 events before");
  }

  /** The end has a frame of its own, which is the last: eight bytes of head, and the content. */
  private static int endFrameAt(byte[] bytes) {
    int at = 32;
    while (true) {
      int length = (bytes[at] & 0xFF) | ((bytes[at + 1] & 0xFF) << 8);
      if (at + 8 + length == bytes.length) {
        return at;
      }
      at += 8 + length;
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {LEARN, PLAN, SIMULATE, REPLAY})
  void shouldSayHowManyAreMissingWhenTheRecordingEndedBeforeItsTime(String command) {
    Logger logger = Logger.getLogger(Recorder.class.getName());
    logger.setLevel(Level.OFF);
    Path file;
    try {
      file =
          record(
              RecordingOptions.DEFAULT.withMaxBytes(1024).withLongestWait(Duration.ofDays(1)),
              Integer.MAX_VALUE);
    } finally {
      logger.setLevel(null);
    }

    Outcome outcome = run(command, file);

    check(outcome, file + ": the recording ended FULL, before its time: read were all its ");
    String missing = outcome.err().replaceAll("(?s).* at least (\\d+) later ones.*", "$1");
    assertTrue(Long.parseLong(missing) > 0, outcome.err());
  }
}
