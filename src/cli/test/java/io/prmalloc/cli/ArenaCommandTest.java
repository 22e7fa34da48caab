package io.prmalloc.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.prmalloc.SharedData;
import io.prmalloc.tflite.TfliteWriter;
import io.prmalloc.trace.MobileNetGraphs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ArenaCommandTest {

  private static final ObjectMapper JSON = new ObjectMapper();

  private static final String GRAPH =
      """
      {"inputs":[0],"outputs":[2],"variables":[3],
       "nodes":[{"inputs":[0,3],"outputs":[1],"temporaries":[4]},{"inputs":[1],"outputs":[2]}],
       "tensors":[{"bytes":100,"type":"arena"},{"bytes":10,"type":"arena","name":"mid\\ndle"},
                  {"bytes":20,"type":"arena"},{"bytes":5,"type":"persistent"},
                  {"bytes":0,"type":"arena"},{"bytes":7,"type":"constant"}]}
      """;

  @TempDir private Path directory;

  private String graph() throws IOException {
    return Files.writeString(directory.resolve("graph.json"), GRAPH).toString();
  }

  @TestFactory
  Stream<DynamicTest> shouldPrintTheReferencesOffsetsWhenTheGraphIsIts() throws IOException {
    JsonNode cases = JSON.readTree(SharedData.path("expected/arena.json").toFile());
    assertTrue(cases.size() >= 5, "cases: " + cases.size());
    return Stream.iterate(0, i -> i + 1)
        .limit(cases.size())
        .map(cases::get)
        .map(
            example ->
                DynamicTest.dynamicTest(
                    example.get("name").asText(), () -> checkReference(example)));
  }

  private void checkReference(JsonNode example) throws IOException {
    Path file = directory.resolve("graph.json");
    JSON.writeValue(file.toFile(), example.get("graph"));
    List<String> args = new ArrayList<>(List.of("arena", file.toString(), "--json"));
    if (example.get("preserveInputs").asBoolean()) {
      args.add("--preserve-inputs");
    }
    if (example.get("preserveIntermediates").asBoolean()) {
      args.add("--preserve-intermediates");
    }
    args.add("--alignment=" + example.get("alignment").asLong());
    for (JsonNode range : example.get("execute")) {
      args.add("--execute=" + range.get(0).asInt() + "-" + range.get(1).asInt());
    }

    Outcome outcome = Outcome.of(args.toArray(String[]::new));

    assertEquals(0, outcome.exitCode(), outcome.err());
    JsonNode report = JSON.readTree(outcome.out());
    assertEquals(example.get("offsets"), report.get("offsets"));
    assertEquals(example.get("highWaterMark"), report.get("arenaBytes"));
    assertEquals(0, report.get("persistentBytes").asLong());
  }

  @Test
  void shouldPrintOneDocumentWhenAskedForJson() throws IOException {
    Outcome outcome = Outcome.of("arena", graph(), "--json");

    assertEquals(
        "{\"arenaBytes\":110,\"persistentBytes\":5,\"lowerBoundBytes\":110,"
            + "\"offsets\":{\"0\":0,\"1\":100,\"2\":0,\"3\":0,\"4\":0,\"5\":null}}\n",
        outcome.out());
    assertEquals("", outcome.err());
    assertEquals(0, outcome.exitCode());
  }

  @Test
  void shouldPrintATableWhenNotAskedForJson() throws IOException {
    String file = graph();

    Outcome outcome = Outcome.of("arena", file, "--execute", "0-0");

    assertEquals(
        file
            + ": 6 tensors, 2 nodes, arena 110 bytes (load 110), persistent 5 bytes\n"
            + """

            tensor        type  bytes  nodes  offset     name
            0            arena    100    0-0       0
            1            arena     10    0-1     100  mid?dle
            2            arena     20    1-1
            3       persistent      5              0
            4            arena      0    0-0       0
            5         constant      7
            """,
        outcome.out());
    assertEquals(0, outcome.exitCode());
  }

  @Test
  void shouldKeepPlacesWhenPreserving() throws IOException {
    assertEquals(
        "{\"0\":0,\"1\":100,\"2\":112,\"3\":0,\"4\":0,\"5\":null}",
        JSON.readTree(Outcome.of("arena", graph(), "--json", "--preserve-intermediates").out())
            .get("offsets")
            .toString());
    assertEquals(
        "{\"0\":0,\"1\":144,\"2\":112,\"3\":0,\"4\":0,\"5\":null}",
        JSON.readTree(
                Outcome.of("arena", graph(), "--json", "--preserve-inputs", "--alignment=16").out())
            .get("offsets")
            .toString());
  }

  @Test
  void shouldReadAModelWhenItIsOne() throws IOException {
    byte[] model = TfliteWriter.model(MobileNetGraphs.v2());
    Path file = Files.write(directory.resolve("v2.bin"), model);

    Outcome outcome = Outcome.of("arena", file.toString(), "--json", "--subgraph=0");

    assertEquals(0, outcome.exitCode(), outcome.err());
    assertEquals(1_505_280, JSON.readTree(outcome.out()).get("arenaBytes").asLong());
    assertEquals(outcome.out(), Outcome.of("arena", "sample:mobilenet-v2", "--json").out());

    Path cut = Files.write(directory.resolve("cut.tflite"), Arrays.copyOf(model, model.length / 2));
    outcome = Outcome.of("arena", cut.toString());
    assertEquals(2, outcome.exitCode());
    assertEquals("", outcome.out());
    assertTrue(outcome.err().startsWith("prmalloc: " + cut + ": "), outcome.err());
    assertEquals(1, outcome.err().lines().count());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--execute 1|Invalid value for option '--execute' (F-L): `1` is not two nodes like 0-3 (see"
            + " `prmalloc arena --help`)",
        "--execute -1-0|Invalid value for option '--execute' (F-L): `-1-0` is not two nodes like 0-3 (see"
            + " `prmalloc arena --help`)",
        "--execute 1-0|last node 0 is not from 1 to 1",
        "--execute 0-0 --execute 0-2|last node 2 is not from 0 to 1",
        "--execute 2-2|first node 2 is not from 0 to 1",
        "--alignment 3|tensorAlignment: alignment 3 is not a power of two from 1 to 1073741824",
        "--alignment 0|tensorAlignment: alignment 0 is not a power of two from 1 to 1073741824",
        "--alignment 128|tensorAlignment 128 exceeds arenaAlignment 64",
        "--arena-alignment 24|arenaAlignment: alignment 24 is not a power of two from 1 to"
            + " 1073741824",
        "--alignment x|Invalid value for option '--alignment': 'x' is not a long (see `prmalloc"
            + " arena --help`)",
        "--subgraph 1|--subgraph 1 means nothing to FILE, which is no .tflite model",
      })
  void shouldComplainInOneLineWhenUsedBadly(String options, String complaint) throws IOException {
    String file = graph();
    List<String> args = new ArrayList<>(List.of("arena", file, "--json"));
    args.addAll(List.of(options.split(" ", -1)));

    Outcome outcome = Outcome.of(args.toArray(String[]::new));

    assertEquals(
        "prmalloc: " + complaint.replace("FILE", file) + System.lineSeparator(), outcome.err());
    assertEquals(2, outcome.exitCode());
    assertEquals("", outcome.out());
  }

  @Test
  void shouldNameFileAndLineWhenTheGraphIsWrong() throws IOException {
    Path file =
        Files.writeString(
            directory.resolve("bad.json"), GRAPH.replace("\"inputs\":[1]", "\"inputs\":[9]"));

    Outcome outcome = Outcome.of("arena", file.toString(), "--json");

    assertEquals(
        "prmalloc: "
            + file
            + ":2: nodes[1].inputs[0]: tensor 9 does not exist; the graph has 6 tensors"
            + System.lineSeparator(),
        outcome.err());
    assertEquals(2, outcome.exitCode());
    assertEquals("", outcome.out());
  }

  @Test
  void shouldComplainWhenThereIsNoGraph() {
    assertEquals(
        "prmalloc: absent.json: is not there" + System.lineSeparator(),
        Outcome.of("arena", "absent.json").err());
    assertEquals(
        "prmalloc: sample:x is not there; there are sample:mobilenet, sample:mobilenet-v1 and sample:mobilenet-v2"
            + System.lineSeparator(),
        Outcome.of("arena", "sample:x").err());
    assertEquals(
        "prmalloc: " + directory + ": is a directory and no graph" + System.lineSeparator(),
        Outcome.of("arena", directory.toString()).err());
    assertEquals(2, Outcome.of("arena", directory.toString()).exitCode());
  }

  @Test
  void shouldExplainWhenAskedForHelp() {
    Outcome outcome = Outcome.of("arena", "--help");

    assertEquals(0, outcome.exitCode());
    assertTrue(outcome.out().contains("\n  prmalloc arena "), outcome.out());
    assertTrue(outcome.out().lines().allMatch(line -> line.length() <= 80), outcome.out());
  }
}
