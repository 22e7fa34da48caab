package io.prmalloc.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.prmalloc.tflite.TfliteWriter;
import io.prmalloc.trace.MobileNetGraphs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Models and graphs as the input of every command. */
class GraphInputsTest {

  private static final long MOBILENET_V2_BYTES = 1_505_280;

  @TempDir private Path directory;

  private String model() throws IOException {
    byte[] model = TfliteWriter.model(MobileNetGraphs.v2());
    return Files.write(directory.resolve("v2.tflite"), model).toString();
  }

  private static JsonNode json(String... words) throws IOException {
    Outcome outcome = Outcome.of(words);
    assertEquals(0, outcome.exitCode(), outcome.err());
    return new ObjectMapper().readTree(outcome.out());
  }

  @Test
  void shouldNeedThePublishedBytesWhenPlanningAModel() throws IOException {
    String file = model();
    for (List<String> options :
        List.of(List.<String>of(), List.of("--subgraph=0"), List.of("--format=graph"))) {
      String[] words =
          Stream.concat(
                  Stream.of("plan", file, "--kind=offsets", "--strategy=greedy-by-size", "--json"),
                  options.stream())
              .toArray(String[]::new);

      JsonNode report = json(words);

      assertEquals(MOBILENET_V2_BYTES, report.get("lowerBoundBytes").asLong());
      assertEquals(MOBILENET_V2_BYTES, report.get("results").get(0).get("totalBytes").asLong());
      assertTrue(report.get("results").get(0).get("valid").asBoolean());
      assertEquals(67, report.get("tensors").asInt());
    }
  }

  @Test
  void shouldReplayAndLearnWhenTheInputIsAModel() throws IOException {
    String file = model();

    assertEquals(
        MOBILENET_V2_BYTES,
        json("replay", file, "--steps=1", "--allocator=malloc", "--json")
            .get("lowerBoundBytes")
            .asLong());
    assertEquals(2, json("learn", file, "--steps=2", "--json").get("steps").asInt());
  }

  @ParameterizedTest
  @ValueSource(strings = {"plan", "arena", "replay"})
  void shouldNameFileAndReasonWhenAModelIsCutShort(String command) throws IOException {
    byte[] model = TfliteWriter.model(MobileNetGraphs.v2());
    Path file = Files.write(directory.resolve("cut.tflite"), Arrays.copyOf(model, 3000));

    Outcome outcome = Outcome.of(command, file.toString());

    assertEquals(2, outcome.exitCode());
    assertEquals("", outcome.out());
    assertTrue(
        outcome.err().matches("prmalloc: \\Q" + file + "\\E: .*is not inside the file.*\\R"),
        outcome.err());
  }

  @Test
  void shouldComplainWhenOptionsDoNotFit() throws IOException {
    String file = model();

    assertEquals(
        "prmalloc: " + file + ": subgraphs: there is no subgraph 1; there are 1, from 0\n",
        Outcome.of("plan", file, "--subgraph=1").err());
    assertEquals(
        "prmalloc: --batch 2 means nothing to a graph\n",
        Outcome.of("plan", file, "--subgraph=0", "--batch=2").err());
    assertEquals(
        "prmalloc: --batch 2 means nothing to the format graph of " + file + "\n",
        Outcome.of("plan", file, "--batch=2").err());
    assertEquals(
        "prmalloc: sample:mobilenet is a trace and no graph; sample:mobilenet-v1 and"
            + " sample:mobilenet-v2 are\n",
        Outcome.of("arena", "sample:mobilenet").err());
  }
}
