package io.prmalloc.trace.learning;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.prmalloc.SharedData;
import io.prmalloc.trace.Trace;
import io.prmalloc.trace.TraceFormat;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LearningReportTest {

  private static final ObjectMapper JSON = new ObjectMapper();

  @Test
  void shouldWriteTheContractsKeysWhenAskedForJson() {
    Trace trace = Trace.builder("t").allocate("x", 50000).allocate("y", 40000).build();

    assertEquals(
        "{\"steps\":1,\"header\":64,\"best\":4096,\"policies\":["
            + "{\"intervalBytes\":4096,\"totalBytes\":94208,\"stable\":false,\"bins\":["
            + "{\"index\":1,\"chunkBytes\":40960,\"blocks\":1,\"virtualBlocks\":[]},"
            + "{\"index\":4,\"chunkBytes\":53248,\"blocks\":1,\"virtualBlocks\":[]}]},"
            + "{\"intervalBytes\":8192,\"totalBytes\":98304,\"stable\":false,\"bins\":["
            + "{\"index\":0,\"chunkBytes\":40960,\"blocks\":1,\"virtualBlocks\":[]},"
            + "{\"index\":2,\"chunkBytes\":57344,\"blocks\":1,\"virtualBlocks\":[]}]},"
            + "{\"intervalBytes\":16384,\"totalBytes\":114688,\"stable\":false,\"bins\":["
            + "{\"index\":0,\"chunkBytes\":49152,\"blocks\":1,\"virtualBlocks\":[]},"
            + "{\"index\":1,\"chunkBytes\":65536,\"blocks\":1,\"virtualBlocks\":[]}]}]}",
        LearningReport.json(Learning.of(trace, 1, 64)));
  }

  @Test
  void shouldShowPoliciesAndBinsWhenAskedForText() {
    Trace trace = Trace.builder("step.ev").allocate("x", 50000).build();

    assertEquals(
        """
        step.ev: 1 tensor, load 50000 bytes, 2 equal steps

        policy        total bytes  factor  stable  bins  blocks  virtual
        4 KiB (best)        53248   1.065     yes     1       1        0
        8 KiB               57344   1.147     yes     1       1        0
        16 KiB              65536   1.311     yes     1       1        0

        bin  chunk bytes  blocks  virtual
        4          53248       1        0
        """,
        LearningReport.text(Learning.of(trace, 2, 64)));
  }

  /** Golden files are named {@code TRACE.STEPS.json}. */
  @ParameterizedTest
  @ValueSource(strings = {"borders", "chained", "interleaved", "nested", "Squeezenet.2"})
  void shouldEqualTheReferenceWhenStepsAreEqual(String name) throws IOException {
    Trace trace = TraceFormat.EVENTS.read(SharedData.path("events/" + name + ".ev"), null);
    List<Path> goldens;
    try (Stream<Path> files = Files.list(SharedData.path("golden"))) {
      goldens =
          files
              .filter(file -> file.getFileName().toString().matches(name + "\\.[0-9]+\\.json"))
              .toList();
    }
    assertTrue(goldens.size() >= 3, "golden files of " + name + ": " + goldens);
    for (Path golden : goldens) {
      String file = golden.getFileName().toString();
      int steps =
          Integer.parseInt(file.substring(name.length() + 1, file.length() - ".json".length()));

      Learning learning = Learning.of(trace, steps, 64);

      assertEquals(
          JSON.readTree(golden.toFile()), JSON.readTree(LearningReport.json(learning)), file);
    }
  }
}
