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
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Tag("jdk-independent")
class SwapCommandTest {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String OPS =
      """
      [{"op": "a", "id": 0, "inputs": [], "outputs": [0], "release": []},
       {"op": "b", "id": 1, "inputs": [0], "outputs": [1], "release": []},
       {"op": "c", "id": 2, "inputs": [1], "outputs": [2], "release": [1]},
       {"op": "d", "id": 3, "inputs": [0, 2], "outputs": [3], "release": [0, 2]}]
      """;

  @TempDir private Path directory;

  private static List<String> squeezenet(String... more) {
    List<String> args =
        new ArrayList<>(List.of("swap", SharedData.path("mnn/Squeezenet").toString(), "--batch=2"));
    args.addAll(List.of(more));
    return args;
  }

  private static JsonNode json(List<String> args) throws IOException {
    Outcome outcome = Outcome.of(args.toArray(new String[0]));
    assertEquals("", outcome.err());
    assertEquals(0, outcome.exitCode());
    assertEquals(1, outcome.out().lines().count());
    return JSON.readTree(outcome.out());
  }

  private Path tiny() throws IOException {
    Files.writeString(directory.resolve("Net.io_info.json"), OPS);
    Files.writeString(directory.resolve("Net.1.resize_info.json"), "[[], [], [], []]");
    Files.writeString(
        directory.resolve("Net.1.tensor_size.json"),
        "{\"0\": 1000, \"1\": 500, \"2\": 100, \"3\": 10}");
    Files.writeString(directory.resolve("Net.1.redundent_parent.json"), "{}");
    Files.writeString(
        directory.resolve("Net.1.cost_info.json"), "{\"0\": 1, \"1\": 2, \"2\": 3, \"3\": 4}");
    return directory;
  }

  @ParameterizedTest
  @CsvSource({"sync", "semi-sync", "async"})
  void shouldPrintTheContractsKeysWhenAskedForJson(String mode) throws IOException {
    JsonNode expected =
        JSON.readTree(SharedData.path("expected/mnn.json").toFile())
            .get("Squeezenet.2")
            .get("swap")
            .get(mode);

    JsonNode os = json(squeezenet("--mode=" + mode, "--json"));
    JsonNode pool = json(squeezenet("--mode=" + mode, "--allocator=pool", "--json"));

    double millis = expected.get("totalMillis").asDouble();
    assertEquals(mode, os.get("mode").asText());
    assertEquals("os", os.get("allocator").asText());
    assertEquals("pool", pool.get("allocator").asText());
    assertEquals(millis, os.get("totalMillis").asDouble(), millis * 1e-6);
    assertEquals(expected.get("osPeakBytes").asLong(), os.get("peakBytes").asLong());
    assertEquals(expected.get("poolPeakBytes").asLong(), pool.get("peakBytes").asLong());
    assertEquals(
        millis,
        os.get("computeMillis").asDouble() + os.get("stallMillis").asDouble(),
        millis * 1e-6);
    assertTrue(os.get("bytesOut").asLong() >= os.get("bytesIn").asLong());
    assertEquals(620, os.get("ops").size());
    assertEquals(119, os.get("forwardOps").asInt());
    checkTimeline(os);
  }

  @Test
  void shouldStayFiniteWhenRatesAreAtTheirBounds() throws IOException {
    JsonNode slow = json(squeezenet("--out-rate=1", "--in-rate=1", "--json"));
    JsonNode fast = json(squeezenet("--out-rate=1e18", "--in-rate=1e18", "--json"));

    assertEquals(
        1000.0 * (slow.get("bytesOut").asLong() + slow.get("bytesIn").asLong()),
        slow.get("totalMillis").asDouble(),
        1e-3 * slow.get("totalMillis").asDouble());
    assertEquals(fast.get("computeMillis").asDouble(), fast.get("totalMillis").asDouble(), 1e-3);
  }

  private static void checkTimeline(JsonNode report) {
    double end = 0;
    int id = 0;
    for (JsonNode op : report.get("ops")) {
      assertEquals(id++, op.get("id").asInt());
      assertTrue(op.get("startMillis").asDouble() >= end - 1e-5);
      end = op.get("endMillis").asDouble();
    }
    assertEquals(report.get("totalMillis").asDouble(), end, 1e-5);
    double free = 0;
    long bytes = 0;
    for (JsonNode transfer : report.get("transfers")) {
      assertTrue(transfer.get("startMillis").asDouble() >= free - 1e-5, "one disk");
      free = transfer.get("endMillis").asDouble();
      bytes += transfer.get("bytes").asLong();
    }
    assertEquals(report.get("bytesOut").asLong() + report.get("bytesIn").asLong(), bytes);
  }

  /**
   * By hand: tensor 0 leaves after op 1 (1 s), 2 after op 2 (0.1 s), both are back for op 3 (0.55
   * s); 1 dies in the forward pass. Only sync has 0 away in op 2.
   */
  @ParameterizedTest
  @CsvSource({"sync, 1660, 1500", "semi-sync, 1657, 1600", "async, 1657, 1600"})
  void shouldTakeTheTimeOfTheHandComputedExampleWhenTheStepIsTiny(
      String mode, double millis, long peakBytes) throws IOException {
    JsonNode report =
        json(
            List.of(
                "swap",
                tiny().toString(),
                "--batch=1",
                "--mode=" + mode,
                "--forward-ops=3",
                "--out-rate=1000",
                "--in-rate=2000",
                "--json"));

    assertEquals(1100, report.get("bytesOut").asLong());
    assertEquals(1100, report.get("bytesIn").asLong());
    assertEquals(JSON.readTree("[\"0\",\"2\"]"), report.get("swapped"));
    assertEquals(10, report.get("computeMillis").asDouble());
    assertEquals(peakBytes, report.get("peakBytes").asLong());
    assertEquals(millis, report.get("totalMillis").asDouble(), 1e-9);
  }

  @Test
  void shouldKeepTheBudgetWithLessStallWhenThereIsOne() throws IOException {
    JsonNode all = json(squeezenet("--mode=semi-sync", "--json"));
    long budget = 115_000_000;

    JsonNode some = json(squeezenet("--mode=semi-sync", "--budget=" + budget, "--json"));
    JsonNode again =
        json(squeezenet("--mode=semi-sync", "--budget=" + budget, "--recompute", "--json"));

    for (JsonNode report : List.of(some, again)) {
      assertTrue(report.get("peakBytes").asLong() <= budget);
      assertTrue(report.get("fits").asBoolean());
      checkTimeline(report);
    }
    assertTrue(some.get("swapped").size() < some.get("featureMaps").asInt());
    assertTrue(some.get("stallMillis").asDouble() < all.get("stallMillis").asDouble());
    assertTrue(again.get("totalMillis").asDouble() <= some.get("totalMillis").asDouble());
    assertTrue(again.get("recomputed").size() > 0);
  }

  @Test
  void shouldExitWithOneWhenTheBudgetCannotBeKept() {
    Outcome outcome = Outcome.of(squeezenet("--budget=1000").toArray(new String[0]));

    assertEquals(1, outcome.exitCode());
    assertTrue(
        outcome.err().startsWith("prmalloc: budget 1000 is not kept; the least peak found is "),
        outcome.err());
    assertEquals(1, outcome.err().lines().count());
  }

  @Test
  void shouldDrawAndTellWhenPeopleAsk() throws IOException {
    Path page = directory.resolve("swap.html");

    Outcome outcome =
        Outcome.of(
            squeezenet("--mode=async", "--budget=115000000", "--recompute", "--report=" + page)
                .toArray(new String[0]));

    assertEquals(0, outcome.exitCode(), outcome.err());
    assertTrue(outcome.out().contains(": async over os, forward pass of 119 operators, "));
    assertTrue(outcome.out().contains("computing again"));
    assertTrue(Files.readString(page).contains("\"mode\":\"async\""));
  }

  @Test
  void shouldSayWhatIsMissingWhenTheInputIsNoProfile() throws IOException {
    Path events = Files.writeString(directory.resolve("x.ev"), "a x 100\nf x 0\n");

    Outcome noProfile = Outcome.of("swap", events.toString());
    Outcome sample = Outcome.of("swap", "sample:mobilenet");

    assertEquals(2, noProfile.exitCode());
    assertEquals(
        "prmalloc: "
            + events
            + ": is of the format events, which knows no operators and times; a directory of"
            + " profiler files does (mnn)\n",
        noProfile.err());
    assertEquals(2, sample.exitCode());
    assertTrue(sample.err().startsWith("prmalloc: sample:mobilenet: is a sample, which knows no"));
  }

  @Test
  void shouldSayWhatIsMissingWhenThereAreNoTimes() throws IOException {
    String profile = tiny().toString();
    Path costs = directory.resolve("Net.1.cost_info.json");

    Files.writeString(costs, "{\"0\": 1}");
    Outcome some = Outcome.of("swap", profile, "--batch=1", "--forward-ops=3");
    Files.delete(costs);
    Outcome none = Outcome.of("swap", profile, "--batch=1", "--forward-ops=3");
    Outcome simulated = Outcome.of("simulate", profile, "--batch=1");

    assertEquals("prmalloc: " + costs + ": \"1\": no time of this operator\n", some.err());
    assertEquals(2, some.exitCode());
    assertEquals(
        "prmalloc: "
            + costs
            + ": is not there or empty, but the times of the operators are needed\n",
        none.err());
    assertEquals(2, none.exitCode());
    assertEquals(0, simulated.exitCode(), simulated.err());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--forward-ops=4|forward ops 4 are not less than the step's 4",
        "--forward-ops=0|forward ops 0 are less than 1",
        "--forward-ops=3 --out-rate=0|out rate 0.0 is not from 1 to 1e18 bytes per second",
        "--forward-ops=3 --out-rate=1e-300|out rate 1.0E-300 is not from 1 to 1e18 bytes per second",
        "--forward-ops=3 --in-rate=1e300|in rate 1.0E300 is not from 1 to 1e18 bytes per second",
        "--forward-ops=3 --in-rate=NaN|in rate NaN is not from 1 to 1e18 bytes per second",
        "--forward-ops=3 --budget=-1|budget -1 is negative; the least is 0",
        "--forward-ops=3 --recompute|computing again is for a budget, and there is none",
        "--forward-ops=3 --reuse-children|--reuse-children is for --allocator pool",
      })
  void shouldComplainInOneLineWhenUsedBadly(String args, String what) throws IOException {
    List<String> words = new ArrayList<>(List.of("swap", tiny().toString(), "--batch=1"));
    words.addAll(List.of(args.split(" ")));

    Outcome outcome = Outcome.of(words.toArray(new String[0]));

    assertEquals(2, outcome.exitCode());
    assertEquals("prmalloc: " + what + "\n", outcome.err());
  }

  @Test
  void shouldAskWhereTheBackwardPassBeginsWhenThereAreNoLabels() throws IOException {
    Outcome outcome = Outcome.of("swap", tiny().toString(), "--batch=1");

    assertEquals(2, outcome.exitCode());
    assertTrue(outcome.err().contains("must be said: --forward-ops N"), outcome.err());
    assertFalse(outcome.err().contains("Exception"));
  }
}
