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
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Tag("jdk-independent")
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
            + "\"offsets\":{\"0\":0,\"1\":100,\"2\":0,\"3\":0,\"4\":null,\"5\":null}}\n",
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
            4            arena      0    0-0
            5         constant      7
            """,
        outcome.out());
    assertEquals(0, outcome.exitCode());
  }

  @Test
  void shouldKeepPlacesWhenPreserving() throws IOException {
    assertEquals(
        "{\"0\":0,\"1\":100,\"2\":112,\"3\":0,\"4\":null,\"5\":null}",
        JSON.readTree(Outcome.of("arena", graph(), "--json", "--preserve-intermediates").out())
            .get("offsets")
            .toString());
    assertEquals(
        "{\"0\":0,\"1\":144,\"2\":112,\"3\":0,\"4\":null,\"5\":null}",
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
    assertEquals(
        outcome.out(),
        Outcome.of("arena", "sample:mobilenet-v2", "--json", "--alignment=64").out());

    Path cut = Files.write(directory.resolve("cut.tflite"), Arrays.copyOf(model, model.length / 2));
    outcome = Outcome.of("arena", cut.toString());
    assertEquals(2, outcome.exitCode());
    assertEquals("", outcome.out());
    assertTrue(outcome.err().startsWith("prmalloc: " + cut + ": "), outcome.err());
    assertEquals(1, outcome.err().lines().count());
  }

  @Test
  void shouldSayWhyOfEachTensorWhenAskedToExplain() throws IOException {
    String file = graph();

    Outcome outcome = Outcome.of("arena", file, "--explain");

    assertEquals(
        file
            + ": 6 tensors, 2 nodes, arena 110 bytes (load 110), persistent 5 bytes\n"
            + """

            0: 100 bytes at 0; input, filled before the first node, read last by node 0; 1 node, 0-0
            1 mid?dle: 10 bytes at 100; written by node 0, read last by node 1; 2 nodes, 0-1
            2: 20 bytes at 0; written by node 1, output, kept to the end; 1 node, 1-1
            3: 5 bytes at 0 of the persistent arena; variable, keeps its content from run to run
            4: 0 bytes; working memory of node 0, needed there only; 1 node, 0-0
            5: 7 bytes; constant, its data stays in the file

            Most is alive at node 0, 110 bytes: tensors 0, 1. The arena has 0 bytes more, for alignment and gaps.
            Persistent are 1 tensor of 5 bytes, of which 0 are made of constants when the model is prepared; 0 bytes more are alignment.
            """,
        outcome.out());
    JsonNode report = JSON.readTree(Outcome.of("arena", file, "--explain", "--json").out());
    assertEquals(
        "{\"tensor\":1,\"name\":\"mid\\ndle\",\"type\":\"\",\"shape\":\"\",\"kind\":\"arena\","
            + "\"bytes\":10,\"offset\":100,\"firstNode\":0,\"lastNode\":1,"
            + "\"why\":\"written by node 0, read last by node 1\"}",
        report.get("tensors").get(1).toString());
    assertEquals(
        "{\"node\":0,\"operator\":\"\",\"bytes\":110,\"tensors\":[0,1]}",
        report.get("peak").toString());
    assertEquals(
        "preserved to the end",
        JSON.readTree(
                Outcome.of("arena", file, "--explain", "--json", "--preserve-intermediates").out())
            .get("tensors")
            .get(1)
            .get("why")
            .asText()
            .replaceFirst(".*, ", ""));
  }

  @Test
  void shouldCountOverlapsOnceWhenOffsetsAreFixed() throws IOException {
    Path file =
        Files.writeString(
            directory.resolve("fixed.json"),
            """
            {"inputs":[0],"outputs":[2],"nodes":[{"inputs":[0],"outputs":[2],"temporaries":[1]}],
             "tensors":[{"bytes":100,"type":"arena","offset":32},
                        {"bytes":200,"type":"arena","offset":0},
                        {"bytes":40,"type":"arena"}]}
            """);

    assertEquals(
        "{\"arenaBytes\":240,\"persistentBytes\":0,\"lowerBoundBytes\":240,"
            + "\"offsets\":{\"0\":32,\"1\":0,\"2\":200}}\n",
        Outcome.of("arena", file.toString(), "--json").out());
    assertTrue(
        Outcome.of("arena", file.toString(), "--explain")
            .out()
            .contains(
                "\n0: 100 bytes at 32; input, filled before the first node, read last by node 0; the"
                    + " file fixes the offset; 1 node, 0-0\n"));
  }

  @Test
  void shouldShowEverySubgraphWhenAModelHasSeveral() throws IOException {
    String file = Files.write(directory.resolve("if.tflite"), TfliteWriter.branches()).toString();

    Outcome outcome = Outcome.of("arena", file, "--json");

    assertEquals("", outcome.err());
    JsonNode report = JSON.readTree(outcome.out());
    // Graph 0 has 100, 100 and 1 bytes, 1 has 300 and 100, 2 has 500 and 100, each at 64.
    assertEquals(257 + 420 + 612, report.get("arenaBytes").asLong());
    assertEquals(report.get("arenaBytes"), report.get("totalBytes"));
    assertEquals(257 + 612, report.get("atOnceBytes").asLong());
    assertEquals(201 + 600, report.get("lowerBoundBytes").asLong());
    assertEquals(3, report.get("subgraphs").size());
    assertEquals("else", report.get("subgraphs").get(2).get("name").asText());
    assertEquals(612, report.get("subgraphs").get(2).get("arenaBytes").asLong());
    JsonNode only = JSON.readTree(Outcome.of("arena", file, "--json", "--subgraph=2").out());
    assertEquals(612, only.get("arenaBytes").asLong());
    assertEquals(null, only.get("subgraphs"));
    String text = Outcome.of("arena", file, "--explain").out();
    assertTrue(
        text.startsWith(
            file
                + ": 3 subgraphs, arenas of 1289 bytes, persistent 0 bytes, total 1289 bytes; at the"
                + " same time 869 bytes; load of all in one arena 801 bytes\n\nsubgraph 0 (main): 3"
                + " tensors, 1 node, "),
        text);
    assertTrue(
        text.contains("\n2 out (INT8 100): 100 bytes at 0; written by node 0 (IF), output, kept"),
        text);
    assertEquals(
        "prmalloc: --execute is of one graph; the model has 3: choose one by --subgraph\n",
        Outcome.of("arena", file, "--execute=0-0").err());
    assertEquals(0, Outcome.of("arena", file, "--execute=0-0", "--subgraph=0").exitCode());
    assertEquals(
        801,
        JSON.readTree(Outcome.of("plan", file, "--json", "--strategy=exact").out())
            .get("lowerBoundBytes")
            .asLong());
  }

  @Test
  void shouldWarnOrFollowWhenShapesAreOpen() throws IOException {
    String file = Files.write(directory.resolve("open.tflite"), TfliteWriter.open()).toString();
    String warning =
        "prmalloc: warning: "
            + file
            + ": input 0 (audio:0) has the open shape [-1, 4], which counts as [1, 4]; --shape sets"
            + " it\n";
    for (String command : List.of("arena", "plan", "replay", "learn")) {
      List<String> args = new ArrayList<>(List.of(command, file, "--json"));
      args.addAll(
          switch (command) {
            case "replay" -> List.of("--steps=1", "--allocator=malloc");
            case "learn" -> List.of("--steps=2");
            case "plan" -> List.of("--strategy=naive");
            default -> List.<String>of();
          });
      assertEquals(warning, Outcome.of(args.toArray(String[]::new)).err(), command);
      args.add("--shape=audio=1000x4");
      Outcome set = Outcome.of(args.toArray(String[]::new));
      assertEquals("", set.err(), command);
      if (!command.equals("learn")) {
        assertEquals(32_000, JSON.readTree(set.out()).get("lowerBoundBytes").asLong(), command);
      }
    }
    assertEquals(
        32_000,
        JSON.readTree(
                Outcome.of(
                        "plan",
                        file,
                        "--subgraph=0",
                        "--shape=0=1000x4",
                        "--strategy=naive",
                        "--json")
                    .out())
            .get("lowerBoundBytes")
            .asLong());
    assertEquals(
        "prmalloc: --shape x is of no input; there are 0 (audio:0)\n",
        Outcome.of("arena", file, "--shape=x=1").err());
    assertEquals(
        "prmalloc: --shape x means nothing to sample:mobilenet-v1, which is no .tflite or ONNX model\n",
        Outcome.of("arena", "sample:mobilenet-v1", "--shape=x=1").err());
    assertEquals(
        "prmalloc: sample:mobilenet takes no --shape\n",
        Outcome.of("plan", "sample:mobilenet", "--shape=x=1").err());
    Path events = Files.writeString(directory.resolve("e.txt"), "a 1 5\nf 1 0\n");
    assertEquals(
        "prmalloc: --shape x means nothing to the format events of " + events + "\n",
        Outcome.of("plan", events.toString(), "--shape=x=1").err());
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
        "--arena-alignment 3|arenaAlignment: alignment 3 is not a power of two from 1 to 1073741824",
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
