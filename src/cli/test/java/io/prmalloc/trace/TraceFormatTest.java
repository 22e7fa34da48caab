package io.prmalloc.trace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.prmalloc.plan.TensorUsageRecord;
import io.prmalloc.tflite.TfliteWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
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
        file
            + ":1: has 1 field instead of 3, or 4 with a thread, expected `a ID SIZE`, `r ID SIZE` or `f ID 0`",
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
            + ":2: starts with `allocate 5`, which no known format does (events, mnn, lifetimes, records, graph, recording, malloc, idealloc, snapshot)",
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

  @Test
  void shouldReadAGraphsTensorsWhenItIsOneInJsonOrAModel() throws IOException {
    Path json =
        file(
            """

            {"inputs": [0], "outputs": [2],
             "nodes": [{"inputs": [0, 3], "outputs": [1]}, {"inputs": [1], "outputs": [2]}],
             "tensors": [{"bytes": 30, "type": "arena"}, {"bytes": 20, "type": "arena"},
                         {"bytes": 10, "type": "arena"}, {"bytes": 5, "type": "constant"}]}
            """);
    assertEquals(TraceFormat.GRAPH, TraceFormat.detect(json));
    Path model = directory.resolve("model.bin");
    Files.write(model, TfliteWriter.model(GraphReader.read(json)));
    assertEquals(TraceFormat.GRAPH, TraceFormat.detect(model));
    Path cut = Files.write(directory.resolve("cut.tflite"), new byte[3]);
    assertEquals(TraceFormat.GRAPH, TraceFormat.detect(cut));

    for (Path path : List.of(json, model)) {
      TensorLifetimes lifetimes = TraceFormat.detect(path).readLifetimes(path, null);
      assertEquals(path.toString(), lifetimes.name());
      assertEquals(List.of("0", "1", "2"), lifetimes.ids());
      assertEquals(
          List.of(
              new TensorUsageRecord(30, 0, 0),
              new TensorUsageRecord(20, 0, 1),
              new TensorUsageRecord(10, 1, 1)),
          lifetimes.records());
      assertEquals(50, new TraceInput(path.toString(), null, null).read().loadBytes());
      assertThrows(
          IllegalArgumentException.class, () -> TraceFormat.detect(path).readLifetimes(path, 4));
    }
    assertEquals(
        cut + ": is cut short: it has 3 bytes",
        assertThrows(TraceFormatException.class, () -> TraceFormat.GRAPH.readLifetimes(cut, null))
            .getMessage());
  }

  @Test
  void shouldReadTheBundledGraphsWhenTheyAreNamed() {
    assertEquals(1_204_224, new TraceInput("sample:mobilenet-v1", null, null).read().loadBytes());
    assertEquals(1_505_280, new TraceInput("sample:mobilenet-v2", null, null).read().loadBytes());
    assertEquals(
        "sample:mobilenet is a trace and no graph; sample:mobilenet-v1 and sample:mobilenet-v2"
            + " are",
        assertThrows(
                IllegalArgumentException.class,
                () -> new GraphInput("sample:mobilenet", null, Map.of()).read())
            .getMessage());
  }
}
