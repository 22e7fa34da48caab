package io.prmalloc.jmh.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.jmh.FakeRun;
import io.prmalloc.jmh.rival.Rival;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MeasurementsTest {

  private static final Map<String, String> SIZE = Map.of("sizeBytes", "65536");

  @TempDir Path folder;

  @Test
  void shouldTakeTheMiddleWhenThereAreSeveral() {
    assertEquals(OptionalDouble.empty(), Measurement.median());
    assertEquals(OptionalDouble.of(3), Measurement.median(9, 1, 3));
    assertEquals(OptionalDouble.of(2.5), Measurement.median(9, 1, 3, 2));
  }

  @Test
  void shouldCountForksTogetherWhenTheyAreInSeveralFiles() throws IOException {
    // Each fork by its median iteration: 10, 20 and 90.
    Path one =
        new FakeRun()
            .add("PairBenchmark", "MALLOC", 1, SIZE, 10, 11, 9)
            .add("PairBenchmark", "MALLOC", 1, SIZE, 20)
            .write(folder.resolve("one.json"));
    Path two =
        new FakeRun()
            .add("PairBenchmark", "MALLOC", 1, SIZE, 5, 90, 900)
            .add("PairBenchmark", "MALLOC", 2, SIZE, 7)
            .write(folder.resolve("two.json"));

    Measurements read = Measurements.read(List.of(one, two));

    Measurement median = read.pair(Rival.MALLOC, 65_536, 1).orElseThrow();
    assertEquals(20, median.nanos());
    assertEquals(3, median.forks());
    assertEquals(0.01, median.heapBytes().orElseThrow());
    assertEquals(0.02, median.faults().orElseThrow());
    assertEquals(7, read.pair(Rival.MALLOC, 65_536, 2).orElseThrow().nanos());
    assertTrue(read.pair(Rival.MALLOC, 4_096, 1).isEmpty());
    assertEquals(2, read.all().size());
  }

  @Test
  void shouldConvertWhenTheUnitIsAnother() throws IOException {
    Path file =
        Files.writeString(
            folder.resolve("us.json"),
            """
            [{"benchmark": "io.prmalloc.jmh.MixedBenchmark.pair", "threads": 4,
              "params": {"rival": "ARROW"},
              "primaryMetric": {"scoreUnit": "us/op", "rawData": [[1.5]]}}]
            """);

    Measurement median = Measurements.read(List.of(file)).mixed(Rival.ARROW, 4).orElseThrow();

    assertEquals(1_500, median.nanos());
    assertTrue(median.heapBytes().isEmpty());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "{}",
        "[{}]",
        "[{\"primaryMetric\": {\"scoreUnit\": \"ops/s\"}}]",
        "[{\"benchmark\": \"a.B.c\", \"params\": {\"rival\": \"NOBODY\"},"
            + " \"primaryMetric\": {\"scoreUnit\": \"ns/op\"}}]",
        "[{\"params\": {\"rival\": \"MALLOC\"}, \"primaryMetric\": {\"scoreUnit\": \"ns/op\"}}]"
      })
  void shouldNameTheFileWhenItHoldsSomethingElse(String content) throws IOException {
    Path file = Files.writeString(folder.resolve("bad.json"), content);

    IllegalArgumentException failure =
        assertThrows(IllegalArgumentException.class, () -> Measurements.read(List.of(file)));

    assertTrue(failure.getMessage().startsWith(file.toString()), failure.getMessage());
  }

  @Test
  void shouldFailWhenAFileIsNoJsonOrAbsent() throws IOException {
    Path broken = Files.writeString(folder.resolve("broken.json"), "[{");
    assertThrows(UncheckedIOException.class, () -> Measurements.read(List.of(broken)));
    Path absent = folder.resolve("absent.json");
    assertThrows(UncheckedIOException.class, () -> Measurements.read(List.of(absent)));
  }
}
