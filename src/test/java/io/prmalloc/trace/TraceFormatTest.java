package io.prmalloc.trace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TraceFormatTest {

  @TempDir private Path directory;

  @Test
  void shouldTellEventsWhenTheFirstLineIsAnEvent() throws IOException {
    assertEquals(TraceFormat.EVENTS, TraceFormat.detect(file("\n a x 5\nf x 0\n")));
  }

  @Test
  void shouldTellEventsWhenTheFirstLineIsCutOff() throws IOException {
    Path file = file("a");

    assertEquals(TraceFormat.EVENTS, TraceFormat.detect(file));
    TraceFormatException wrong =
        assertThrows(
            TraceFormatException.class, () -> new TraceInput(file.toString(), null, null).read());
    assertEquals(
        file + ":1: has 1 fields instead of 3, expected `a ID SIZE` or `f ID 0`",
        wrong.getMessage());
  }

  @Test
  void shouldTellAProfileWhenItIsADirectory() {
    assertEquals(TraceFormat.MNN, TraceFormat.detect(directory));
  }

  @Test
  void shouldNameFileAndLineWhenNoFormatStartsSo() throws IOException {
    Path file = file("\nallocate 5\n");

    TraceFormatException wrong =
        assertThrows(TraceFormatException.class, () -> TraceFormat.detect(file));

    assertEquals(
        file
            + ":2: starts with `allocate 5`, which no known format does (events, mnn, lifetimes, records)",
        wrong.getMessage());
  }

  @Test
  void shouldNameTheFileWhenItIsEmpty() throws IOException {
    Path file = file("");

    TraceFormatException wrong =
        assertThrows(TraceFormatException.class, () -> TraceFormat.detect(file));

    assertEquals(file + ": is empty", wrong.getMessage());
  }

  @Test
  void shouldThrowWhenTheFileIsAbsent() {
    assertThrows(UncheckedIOException.class, () -> TraceFormat.detect(directory.resolve("absent")));
  }

  @Test
  void shouldRefuseWhenABatchMeansNothing() throws IOException {
    Path file = file("a x 5\n");

    IllegalArgumentException wrong =
        assertThrows(
            IllegalArgumentException.class, () -> new TraceInput(file.toString(), null, 4).read());

    assertEquals("--batch 4 means nothing to the format events of " + file, wrong.getMessage());
  }

  private Path file(String text) throws IOException {
    return Files.writeString(directory.resolve("input"), text);
  }
}
