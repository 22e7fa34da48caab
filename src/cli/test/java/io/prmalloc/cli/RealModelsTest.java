package io.prmalloc.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.prmalloc.SharedData;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Models in general use; skipped if {@code src/cli/fetch-tflite-models.sh} did not run. */
class RealModelsTest {

  private static final Path MODELS = Path.of("target", "tflite-models");

  /** Bytes that kernels make of constants, worked out from the models' own tables. */
  private static final Map<String, Long> PREPARED =
      Map.of(
          "hand_landmark_full.tflite", 10_862_720L,
          "hand_landmark_lite.tflite", 4_046_848L,
          "face_detection_full_range_sparse.tflite", 2_958_416L,
          "face_detection_full_range.tflite", 2_056_276L,
          "face_detection_short_range.tflite", 405_560L,
          "pose_landmark_lite.tflite", 5_452_356L,
          "pose_landmark_full.tflite", 12_677_956L,
          "pose_landmark_heavy.tflite", 55_004_292L);

  private static JsonNode json(String... words) throws IOException {
    Outcome outcome = Outcome.of(words);
    assertEquals(0, outcome.exitCode(), outcome.err());
    return new ObjectMapper().readTree(outcome.out());
  }

  @Test
  void shouldExplainEveryTensorWhenAModelIsReal() throws IOException {
    assumeTrue(Files.isDirectory(MODELS), "no " + MODELS + ": fetch-tflite-models.sh was not run");
    List<Path> files;
    try (Stream<Path> found = Files.list(MODELS)) {
      files = found.filter(file -> file.toString().endsWith(".tflite")).sorted().toList();
    }
    assertEquals(16, files.size());
    for (Path file : files) {
      JsonNode report = json("arena", file.toString(), "--explain", "--json", "--alignment=1");
      assertEquals(
          PREPARED.getOrDefault(file.getFileName().toString(), 0L),
          report.get("persistentBytes").asLong(),
          file.toString());
      checkSums(file, report);
      for (JsonNode part : report.path("subgraphs")) {
        checkSums(file, part);
      }
    }
  }

  /** What is said of the tensors gives the figures of the whole. */
  private static void checkSums(Path file, JsonNode report) {
    long persistent = 0;
    long atPeak = 0;
    long end = 0;
    for (JsonNode tensor : report.get("tensors")) {
      assertTrue(!tensor.get("why").asText().isEmpty(), file.toString());
      long bytes = tensor.get("bytes").asLong();
      if (tensor.get("kind").asText().equals("persistent")) {
        persistent += bytes;
      } else if (tensor.has("firstNode") && !tensor.get("offset").isNull()) {
        int node = report.get("peak").get("node").asInt();
        boolean alive =
            tensor.get("firstNode").asInt() <= node && node <= tensor.get("lastNode").asInt();
        atPeak += alive ? bytes : 0;
        end = Math.max(end, tensor.get("offset").asLong() + bytes);
      }
    }
    assertEquals(report.get("peak").get("bytes").asLong(), atPeak, file.toString());
    if (!report.has("subgraphs")) {
      assertEquals(report.get("persistentBytes").asLong(), persistent, file.toString());
      assertEquals(report.get("arenaBytes").asLong(), end, file.toString());
      assertEquals(report.get("lowerBoundBytes").asLong(), atPeak, file.toString());
    }
  }

  @ParameterizedTest
  @CsvSource({"0, 12800", "1, 417604", "2, 423748"})
  void shouldNeedTheKnownBytesWhenAModelHasBranches(int subgraph, long bytes) throws IOException {
    String file = SharedData.path("../cases/tflite/hey_jarvis_v0.1.tflite").toString();

    assertEquals(
        bytes, json("arena", file, "--json", "--subgraph=" + subgraph).get("arenaBytes").asLong());
    JsonNode all = json("arena", file, "--json");
    assertEquals(bytes, all.get("subgraphs").get(subgraph).get("arenaBytes").asLong());
    assertEquals(12_800 + 417_604 + 423_748, all.get("totalBytes").asLong());
    assertEquals(12_800 + 423_748, all.get("atOnceBytes").asLong());
  }

  @Test
  void shouldFollowTheShapeWhenAModelLeavesItOpen() throws IOException {
    String file = SharedData.path("../cases/tflite/melspectrogram.tflite").toString();

    assertTrue(
        Outcome.of("arena", file).err().contains("has the open shape [-1, -1]"),
        "no warning of the open shape");
    JsonNode report =
        json("arena", file, "--json", "--explain", "--shape=serving_default_input:0=1x16000");
    assertEquals("1x1x97x32", report.get("tensors").get(40).get("shape").asText());
    assertEquals(3 * 1 * 97 * 257 * 4, report.get("lowerBoundBytes").asLong());
  }

  @Test
  void shouldKeepTheOfflinePlanWhenAModelIsForAnAccelerator() throws IOException {
    String file = SharedData.path("../cases/tflite/person_detect_vela.tflite").toString();

    JsonNode report = json("arena", file, "--json");

    assertEquals(74_464, report.get("arenaBytes").asLong());
    assertEquals(
        "{\"0\":0,\"1\":null,\"2\":null,\"3\":0,\"4\":0,\"5\":0}",
        report.get("offsets").toString());
  }
}
