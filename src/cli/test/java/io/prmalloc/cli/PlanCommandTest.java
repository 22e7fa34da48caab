package io.prmalloc.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.prmalloc.SharedData;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("jdk-independent")
class PlanCommandTest {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String CHAIN =
      "id,size,first,last\na,16,0,1\nb,8,1,2\nc,64,2,3\nd,32,3,4\ne,8,4,5\n";

  @TempDir private Path directory;

  private Path file(String name, String text) throws IOException {
    return Files.writeString(directory.resolve(name), text);
  }

  private static JsonNode json(String... args) throws IOException {
    Outcome outcome = Outcome.of(args);
    assertEquals("", outcome.err());
    assertEquals(0, outcome.exitCode());
    assertEquals(1, outcome.out().lines().count());
    return JSON.readTree(outcome.out());
  }

  @Test
  void shouldPrintTheContractsKeysWhenAskedForJson() throws IOException {
    Path input = file("chain.csv", CHAIN);

    JsonNode report =
        json("plan", input.toString(), "--strategy", "greedy-by-size", "--alignment=8", "--json");

    assertEquals(5, report.get("tensors").asInt());
    assertEquals(96, report.get("lowerBoundBytes").asLong());
    assertEquals(96, report.get("objectsLowerBoundBytes").asLong());
    assertEquals(2, report.get("results").size());
    JsonNode objects = report.get("results").get(0);
    assertEquals("greedy-by-size", objects.get("strategy").asText());
    assertEquals("objects", objects.get("kind").asText());
    assertEquals(96, objects.get("totalBytes").asLong());
    assertTrue(objects.get("millis").isNumber());
    assertTrue(objects.get("valid").asBoolean());
    assertEquals(
        JSON.readTree("{\"a\":0,\"b\":1,\"c\":0,\"d\":1,\"e\":0}"), objects.get("objectIds"));
    assertEquals(JSON.readTree("[64,32]"), objects.get("objectSizes"));
    JsonNode offsets = report.get("results").get(1);
    assertEquals("offsets", offsets.get("kind").asText());
    assertEquals(
        JSON.readTree("{\"a\":0,\"b\":64,\"c\":0,\"d\":64,\"e\":0}"), offsets.get("offsets"));
  }

  /** Everything the reference data says, through the command. */
  @Test
  void shouldPrintTheReferencesPlansWhenItsRecordsAreGiven() throws IOException {
    int compared = 0;
    for (JsonNode reference : JSON.readTree(SharedData.path("expected/planners.json").toFile())) {
      Path input = file(reference.get("name").asText() + ".csv", reference.get("csv").asText());
      JsonNode report = json("plan", input.toString(), "--strategy=all", "--json");
      if (reference.has("lowerBoundBytes")) {
        assertEquals(reference.get("lowerBoundBytes"), report.get("lowerBoundBytes"));
      }
      for (JsonNode result : report.get("results")) {
        JsonNode expected = reference.get("objects").get(result.get("strategy").asText());
        assertTrue(result.get("valid").asBoolean(), result.toString());
        if (result.get("kind").asText().equals("objects")) {
          assertEquals(expected.get("objectSizes"), result.get("objectSizes"));
          for (int i = 0; i < expected.get("objectIds").size(); i++) {
            assertEquals(
                expected.get("objectIds").get(i), result.get("objectIds").get(Integer.toString(i)));
          }
          compared++;
        }
      }
      for (JsonNode expected : reference.get("offsets")) {
        JsonNode offsets =
            json(
                    "plan",
                    input.toString(),
                    "--strategy=" + expected.get("strategy").asText(),
                    "--kind=offsets",
                    "--alignment=" + expected.get("alignment"),
                    "--json")
                .get("results")
                .get(0);
        assertEquals(expected.get("totalBytes"), offsets.get("totalBytes"));
        for (int i = 0; i < expected.get("offsets").size(); i++) {
          assertEquals(
              expected.get("offsets").get(i), offsets.get("offsets").get(Integer.toString(i)));
        }
        compared++;
      }
    }
    assertTrue(compared >= 20, "compared " + compared + " plans");
  }

  @ParameterizedTest
  @CsvSource({"sample:mobilenet-v1,1204224", "sample:mobilenet-v2,1505280"})
  void shouldNeedThePublishedBytesWhenPlanningTheSamples(String sample, long bytes)
      throws IOException {
    JsonNode report = json("plan", sample, "--kind=offsets", "--strategy=greedy-by-size", "--json");

    assertEquals(bytes, report.get("results").get(0).get("totalBytes").asLong());
    assertEquals(bytes, report.get("lowerBoundBytes").asLong());
  }

  @Test
  void shouldTellTheFormatWhenNobodySaysIt() throws IOException {
    Path events = file("t.ev", "a x 5\na y 7\nf x 0\nf y 0\n");
    Path lifetimes = file("l.csv", "id,lower,upper,size\nx,0,2,5\ny,1,3,7\n");
    Path graph =
        file(
            "g.json",
            "\n{\"inputs\":[0],\"outputs\":[1],\"nodes\":[{\"inputs\":[0],\"outputs\":[1]}],"
                + "\"tensors\":[{\"bytes\":5,\"type\":\"arena\"},"
                + "{\"bytes\":7,\"type\":\"arena\"}]}");

    for (Path input : List.of(events, lifetimes, graph)) {
      assertEquals(12, json("plan", input.toString(), "--json").get("lowerBoundBytes").asLong());
    }
    assertEquals(
        128, json("plan", "sample:mobilenet", "--strategy=naive", "--json").get("tensors").asInt());
  }

  @Test
  void shouldReadAProfileWhenTheBatchIsGiven() throws IOException {
    JsonNode report =
        json(
            "plan",
            SharedData.path("mnn/Squeezenet").toString(),
            "--batch=2",
            "--strategy=greedy-by-size",
            "--kind=offsets",
            "--json");

    assertEquals(1080, report.get("tensors").asInt());
    assertEquals(118_533_224, report.get("lowerBoundBytes").asLong());
  }

  @Test
  void shouldWriteTheTableBackWhenAskedForAFile() throws IOException {
    Path input = file("chain.csv", CHAIN);
    Path out = directory.resolve("out.csv");

    json("plan", input.toString(), "--strategy=all", "--out", out.toString(), "--json");

    assertEquals(
        "id,size,first,last,offset\na,16,0,1,0\nb,8,1,2,64\nc,64,2,3,0\nd,32,3,4,64\ne,8,4,5,0\n",
        Files.readString(out));
    // And over the input, whose column is then replaced: what is fixed stays, what is not is
    // placed.
    Files.writeString(out, "id,size,first,last,offset\na,16,0,1,\nb,8,1,2,40\nc,64,2,3,-1\n");
    json("plan", out.toString(), "--strategy=exact", "--out", out.toString(), "--json");
    assertEquals(
        "id,size,first,last,offset\na,16,0,1,0\nb,8,1,2,40\nc,64,2,3,48\n", Files.readString(out));
    assertOnlyFiles("chain.csv", "out.csv");
  }

  private void assertOnlyFiles(String... names) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      assertEquals(
          List.of(names), files.map(path -> path.getFileName().toString()).sorted().toList());
    }
  }

  @Test
  void shouldPrintATableWhenPeopleAsk() throws IOException {
    Outcome outcome = Outcome.of("plan", file("chain.csv", CHAIN).toString());

    assertEquals(0, outcome.exitCode());
    List<String> lines = outcome.out().lines().toList();
    assertTrue(lines.get(0).endsWith("chain.csv: 5 tensors, load 96 bytes"), outcome.out());
    assertEquals(
        "strategy kind total bytes factor objects millis valid",
        lines.get(2).replaceAll(" +", " "));
    assertEquals(3 + 16, lines.size(), outcome.out());
  }

  @Test
  void shouldExitWithOneWhenTheCapacityIsNotReached() throws IOException {
    Path input = file("chain.csv", CHAIN);
    Path out = directory.resolve("out.csv");

    Outcome tight =
        Outcome.of("plan", input.toString(), "--capacity", "95", "--json", "--out", out.toString());
    Outcome enough = Outcome.of("plan", input.toString(), "--capacity", "96");

    assertEquals(1, tight.exitCode());
    assertEquals(
        "prmalloc: capacity 95 is not reached; the smallest plan found needs 96; "
            + out
            + " is not written"
            + System.lineSeparator(),
        tight.err());
    assertFalse(JSON.readTree(tight.out()).get("results").get(0).get("fits").asBoolean());
    assertFalse(Files.exists(out));
    assertEquals(0, enough.exitCode());
  }

  @ParameterizedTest
  @ValueSource(strings = {"--strategy=all", "--strategy=naive", "--kind=objects"})
  void shouldCountObjectsAlignedWhenThereIsACapacity(String option) throws IOException {
    Path input = file("three.csv", "id,lower,upper,size\na,0,1,2\nb,0,1,2\nc,0,1,2\n");
    Path out = directory.resolve("out.csv");
    String[] command = {
      "plan", input.toString(), option, "--alignment=64", "--out=" + out, "--capacity=129"
    };

    Outcome tight = Outcome.of(command);

    assertEquals(1, tight.exitCode(), tight.out());
    assertTrue(tight.err().contains("capacity 129 is not reached"), tight.err());
    assertTrue(tight.err().contains("needs 130"), tight.err());
    assertFalse(Files.exists(out));

    command[5] = "--capacity=130";
    assertEquals(0, Outcome.of(command).exitCode());
    assertEquals(
        "id,lower,upper,size,offset\na,0,1,2,0\nb,0,1,2,64\nc,0,1,2,128\n", Files.readString(out));
  }

  @Test
  void shouldTakeATimeoutOfLessThanANanosecond() throws IOException {
    Path input = file("chain.csv", CHAIN);

    Outcome outcome =
        Outcome.of("plan", input.toString(), "--strategy=exact", "--timeout=1e-12", "--json");

    assertEquals("", outcome.err());
    assertEquals(0, outcome.exitCode());
  }

  @Test
  void shouldSkipWhatIsTooLargeUnlessItIsNamed() throws IOException {
    StringBuilder text = new StringBuilder("id,lower,upper,size\n");
    for (int i = 0; i < 2001; i++) {
      text.append(i).append(',').append(i).append(',').append(i + 2).append(",1\n");
    }
    Path input = file("long.csv", text.toString());
    String reason =
        "min-cost-flow takes at most 2000 tensors, for its cost grows with their cube; there are"
            + " 2001";

    JsonNode all = json("plan", input.toString(), "--json");
    Outcome named = Outcome.of("plan", input.toString(), "--strategy=min-cost-flow");

    assertEquals(reason, all.get("results").get(12).get("skipped").asText());
    assertEquals(2, named.exitCode());
    assertEquals("prmalloc: " + input + ": " + reason + System.lineSeparator(), named.err());
  }

  @Test
  void shouldExitWithOneWhenTheTimeIsOver() throws IOException {
    StringBuilder text = new StringBuilder("id,lower,upper,size\n");
    for (int i = 0; i < 2000; i++) {
      text.append(i).append(',').append(i).append(',').append(i + 9).append(",1\n");
    }
    Path input = file("long.csv", text.toString());

    Outcome outcome =
        Outcome.of(
            "plan",
            input.toString(),
            "--strategy=min-cost-flow",
            "--kind=objects",
            "--timeout=0.01",
            "--json");

    assertEquals(1, outcome.exitCode());
    assertEquals(
        "prmalloc: min-cost-flow by objects did not end within 0.01 s" + System.lineSeparator(),
        outcome.err());
    assertEquals(
        "did not end within 0.01 s",
        JSON.readTree(outcome.out()).get("results").get(0).get("failed").asText());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--strategy best|strategy `best` is none of naive, equality, greedy-in-order,"
            + " greedy-by-breadth, greedy-by-size, greedy-best, min-cost-flow, heuristic, exact, all",
        "--alignment 48|alignment 48 is not a power of two from 1 to 1073741824",
        "--alignment 0|alignment 0 is not a power of two from 1 to 1073741824",
        "--capacity -1|capacity -1 is negative; the least is 0",
        "--timeout 0|timeout 0.0 is not more than 0 and at most 1e9 seconds",
        "--timeout NaN|Invalid value for option '--timeout': `NaN` is not a number of seconds"
            + " from 0 to 1000000000 (see `prmalloc plan --help`)",
        "--format csv|Invalid value for option '--format': expected one of [EVENTS, MNN, LIFETIMES,"
            + " RECORDS, GRAPH, RECORDING, MALLOC, IDEALLOC, SNAPSHOT] (case-insensitive) but was 'csv'"
            + " (see `prmalloc plan --help`)",
        "--batch 2|--batch 2 means nothing to the format records of FILE",
        "--subgraph 0|--subgraph 0 means nothing to FILE, which is no .tflite model",
        "--format lifetimes|FILE:1: `id,size,first,last` has no column `lower`; expected the header"
            + " `id,lower,upper,size`",
        "--out /nowhere/at/all.csv|/nowhere/at/all.csv: its directory is not there",
      })
  void shouldComplainInOneLineWhenUsedBadly(String options, String complaint) throws IOException {
    Path input = file("chain.csv", CHAIN);

    Outcome outcome = Outcome.of(("plan " + input + " " + options).split(" ", -1));

    assertEquals(
        "prmalloc: " + complaint.replace("FILE", input.toString()) + System.lineSeparator(),
        outcome.err());
    assertEquals(2, outcome.exitCode());
    assertEquals("", outcome.out());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "id,size,first,last\na,1,5,4\n",
        "id,size,first,last\na,-1,0,4\n",
        "id,size,first,last\na,9223372036854775807,0,4\nb,1,9,9\n",
        "id,size,first,last\na,1,0,4\na,1,0,4\n",
        "id,size,first,last\na,1,0\n",
        "id,size,first,last\na,x1,0,1\n",
        "0,16,0,1\n",
        "id,lower,upper,size\na,5,5,1\n",
        "{\"inputs\":[7],\"outputs\":[],\"nodes\":[],\"tensors\":[]}",
        "{\"inputs\":[0],\"outputs\":[1],\"nodes\":[{\"inputs\":[0],\"outputs\":[1]},"
            + "{\"inputs\":[0],\"outputs\":[1]}],"
            + "\"tensors\":[{\"bytes\":1,\"type\":\"arena\"},{\"bytes\":1,\"type\":\"arena\"}]}",
        "{\"inputs\":[0],",
        "a x 1\na x 1\n",
        "",
      })
  void shouldWriteNothingWhenTheInputIsWrong(String text) throws IOException {
    Path input = file("bad", text);
    Path out = file("out.csv", "before");

    Outcome outcome = Outcome.of("plan", input.toString(), "--out", out.toString(), "--json");

    assertEquals(2, outcome.exitCode());
    assertEquals("", outcome.out());
    assertTrue(outcome.err().startsWith("prmalloc: " + input + ":"), outcome.err());
    assertEquals(1, outcome.err().lines().count(), outcome.err());
    assertEquals("before", Files.readString(out));
    assertOnlyFiles("bad", "out.csv");
  }

  @Test
  void shouldNameTheFileWhenAlignedSizesOverflow() throws IOException {
    Path input = file("large.csv", "id,size,first,last\na,9223372036854775800,0,0\nb,1,1,1\n");

    Outcome outcome =
        Outcome.of("plan", input.toString(), "--strategy=greedy-by-size", "--alignment=64");

    assertEquals(2, outcome.exitCode());
    assertEquals("", outcome.out());
    assertEquals(
        "prmalloc: "
            + input
            + ": offset 9223372036854775800 with 63 bytes behind it passes 2^63 - 1"
            + System.lineSeparator(),
        outcome.err());
  }

  @Test
  void shouldSaySoWhenShapesHaveNoSuchPlan() throws IOException {
    Path input = file("shapes.csv", "id,size,first,last\na,2x8,0,1\nb,1x4,2,3\n");

    assertEquals(3, json("plan", input.toString(), "--json").get("results").size());
    for (String[] options :
        new String[][] {
          {
            "--strategy=greedy-by-size",
            input + ": greedy-by-size is not defined for sizes of 2 dimensions"
          },
          {"--kind=offsets", input + ": no strategy makes offsets for sizes of 2 dimensions"},
          {"--report=x.html", "--report draws offsets, which sizes of 2 dimensions have not"},
          {"--out=x.csv", "--out writes offsets, which sizes of 2 dimensions have not"},
        }) {
      Outcome outcome = Outcome.of("plan", input.toString(), options[0]);
      assertEquals(2, outcome.exitCode());
      assertEquals("prmalloc: " + options[1] + System.lineSeparator(), outcome.err());
    }
  }

  @ParameterizedTest
  @CsvSource({"Squeezenet,2", "MobilenetV2,4"})
  void shouldPlaceAsTheReferenceDoesWhenTheStrategyIsHeuristic(String model, int batch)
      throws IOException {
    JsonNode expected =
        JSON.readTree(SharedData.path("expected/mnn.json").toFile()).get(model + "." + batch);
    String profile = SharedData.path("mnn/" + model).toString();

    JsonNode life = json("plan", profile, "--batch=" + batch, "--strategy=heuristic", "--json");
    JsonNode size =
        json("plan", profile, "--batch=" + batch, "--strategy=heuristic", "--order=size", "--json");

    JsonNode result = life.get("results").get(0);
    assertEquals(expected.get("heuristicLifeOrderBytes"), result.get("totalBytes"));
    assertEquals("offsets", result.get("kind").asText());
    assertEquals(64, result.get("alignment").asInt());
    assertTrue(result.get("valid").asBoolean());
    assertEquals(
        expected.get("heuristicSizeOrderBytes"), size.get("results").get(0).get("totalBytes"));
  }

  @ParameterizedTest
  @CsvSource({"swaps", "annealing"})
  void shouldNeedLessWhenABetterOrderIsSearched(String search) throws IOException {
    String profile = SharedData.path("mnn/Squeezenet").toString();
    Path out = directory.resolve("placed.csv");

    JsonNode report =
        json(
            "plan",
            profile,
            "--batch=2",
            "--strategy=heuristic",
            "--search=" + search,
            "--tries=300",
            "--seed=5",
            "--out=" + out,
            "--json");

    JsonNode result = report.get("results").get(0);
    assertTrue(result.get("totalBytes").asLong() < 133335552L, result.get("totalBytes").asText());
    assertTrue(result.get("valid").asBoolean());
    assertEquals(1081, Files.readAllLines(out).size());
  }

  @Test
  void shouldRefuseWhenAnOrderMeansNothing() throws IOException {
    String input = file("chain.csv", CHAIN).toString();

    Outcome notHeuristic = Outcome.of("plan", input, "--strategy=naive", "--order=life");
    Outcome notSearched = Outcome.of("plan", input, "--strategy=heuristic", "--seed=4");

    assertEquals(2, notHeuristic.exitCode());
    assertEquals(
        "prmalloc: --order, --search, --seed and --tries are for the strategy heuristic\n",
        notHeuristic.err());
    assertEquals(2, notSearched.exitCode());
    assertEquals("prmalloc: --seed and --tries are for --search\n", notSearched.err());
  }
}
