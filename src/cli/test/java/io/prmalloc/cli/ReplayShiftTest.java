package io.prmalloc.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.prmalloc.trace.replay.MedianRuns;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The output of {@code replay --shift} about traffic that changes. */
class ReplayShiftTest {

  private static final ObjectMapper JSON = new ObjectMapper();

  private static Outcome outcome(String... options) {
    List<String> args =
        new ArrayList<>(
            List.of(
                "replay",
                "sample:mobilenet",
                "--shift=sample:mobilenet-v1",
                "--shift=sample:mobilenet",
                "--steps=150",
                "--idle=0.1",
                "--api=handle"));
    args.addAll(List.of(options));
    return Outcome.of(args.toArray(new String[0]));
  }

  private static JsonNode phases(String... options) throws IOException {
    List<String> more = new ArrayList<>(List.of(options));
    // Nothing is written into the tensors. Direct memory would be all the same: with zeros.
    more.addAll(List.of("--json", "--touch=none", "--memory=mmap"));
    Outcome outcome = outcome(more.toArray(new String[0]));
    assertEquals("", outcome.err());
    assertEquals(0, outcome.exitCode());
    JsonNode document = JSON.readTree(outcome.out());
    assertEquals("sample:mobilenet", document.get("input").asText());
    assertEquals(2, document.get("shift").size());
    assertEquals(0.1, document.get("idleSeconds").asDouble());
    JsonNode phases = document.get("runs").get(0).get("phases");
    assertEquals(3, phases.size());
    for (JsonNode phase : phases) {
      checkMemory(phase);
    }
    return phases;
  }

  private static void checkMemory(JsonNode phase) {
    // A plan that was lowered is an eighth larger than what was seen, and slabs stay.
    long spare = phase.get("endReservedBytes").asLong() - phase.get("newPlanBytes").asLong();
    assertTrue(timesNewPlan(phase) <= 1.1 || spare <= 2 << 20, phase::toString);
  }

  /** How much memory a phase ends with, for what a new plan takes. */
  private static double timesNewPlan(JsonNode phase) {
    long end = phase.get("endReservedBytes").asLong();
    assertTrue(phase.get("steps").asInt() >= 100, phase::toString);
    assertTrue(phase.get("peakReservedBytes").asLong() >= end, phase::toString);
    double times = phase.get("timesNewPlan").asDouble();
    assertEquals(times, (double) end / phase.get("newPlanBytes").asLong(), 0.01, phase::toString);
    return times;
  }

  @Test
  void shouldShowHowTheSharedPoolFollows() throws IOException {
    JsonNode phases = phases();
    assertEquals(0, phases.get(0).get("startReservedBytes").asLong());
    assertEquals(0, phases.get(0).get("replans").asInt());
    assertTrue(phases.get(0).get("misses").asInt() > 0, "those of warm-up");
    assertEquals(1, phases.get(2).get("replans").asInt());
    // 512 requests of some 60 a step find nothing, and then twelve steps are learnt.
    int steps = phases.get(2).get("stepsToHits").asInt();
    assertTrue(steps > 12 && steps < 60, phases::toString);
    long first = phases.get(0).get("endReservedBytes").asLong();
    assertEquals(first, phases.get(1).get("startReservedBytes").asLong());
    assertEquals(first, phases.get(2).get("endReservedBytes").asLong());
  }

  @Test
  void shouldShowHowPlannedStepsFollow() throws IOException {
    JsonNode phases = phases("--planned");
    // Three steps are learnt, and one that misses does not spoil the rate of a hundred.
    assertEquals(2, phases.get(0).get("stepsToHits").asInt());
    // The smaller model is served by the plan of the larger one, which is lowered later.
    assertTrue(phases.get(1).get("stepsToHits").asInt() <= 2, phases::toString);
    assertTrue(phases.get(1).get("replans").asInt() >= 1, phases::toString);
    // And raised again, by the first steps that depart.
    assertTrue(phases.get(2).get("misses").asInt() < phases.get(0).get("misses").asInt());
    assertTrue(phases.get(2).get("departedSteps").asInt() <= 60, phases::toString);
  }

  @Tag("long")
  @Test
  void shouldCheckEveryByteOfSeveralThreads() throws Exception {
    // How large the blocks get that threads share is chance, for a new pool too.
    MedianRuns.assertAtMost(1.1, ReplayShiftTest::timesNewPlanOfSeveralThreads);
  }

  private static List<Double> timesNewPlanOfSeveralThreads() throws IOException {
    Outcome outcome =
        Outcome.of(
            "replay",
            "sample:mobilenet-v1",
            "--shift=sample:mobilenet-v2",
            "--steps=100",
            "--idle=0.2",
            "--policies=reference",
            "--allocator=pool,planned",
            "--threads=3",
            "--touch=all",
            "--json");
    assertEquals("", outcome.err());
    assertEquals(0, outcome.exitCode());
    JsonNode runs = JSON.readTree(outcome.out()).get("runs");
    assertFalse(runs.get(0).get("planned").asBoolean());
    assertTrue(runs.get(1).get("planned").asBoolean());
    for (JsonNode run : runs) {
      assertFalse(run.get("phases").get(1).get("stepsToHits").isNull(), run::toString);
    }
    runs.get(1).get("phases").forEach(ReplayShiftTest::checkMemory);
    List<Double> shared = new ArrayList<>();
    runs.get(0).get("phases").forEach(phase -> shared.add(timesNewPlan(phase)));
    return shared;
  }

  @Test
  void shouldPrintATableForPeople() {
    Outcome outcome =
        Outcome.of(
            "replay",
            "sample:mobilenet",
            "--shift=sample:mobilenet-v1",
            "--steps=150",
            "--idle=0.02",
            "--planned",
            "--touch=none",
            "--memory=mmap");
    assertEquals("", outcome.err());
    List<String> lines = outcome.out().lines().toList();
    assertEquals("sample:mobilenet, then sample:mobilenet-v1", lines.get(0));
    assertEquals("planned:", lines.get(3));
    assertTrue(lines.get(4).startsWith("trace "), outcome::out);
    assertTrue(lines.get(6).matches("sample:mobilenet-v1 +\\d+ +[0-2] .*"), outcome::out);
  }

  @Test
  void shouldRefuseAllocatorsThatDoNotLearn() {
    Outcome outcome = outcome("--allocator=direct");
    assertEquals(2, outcome.exitCode());
    assertEquals(
        "prmalloc: allocator direct does not learn, so traffic cannot shift for it\n",
        outcome.err());
    assertFalse(outcome.out().contains("trace"), outcome::out);
  }

  @Test
  void shouldNameTheTraceThatIsNotThere() {
    Outcome outcome = outcome("--shift=absent", "--shift-batch=2");
    assertEquals(2, outcome.exitCode());
    assertEquals("prmalloc: absent: is not there\n", outcome.err());
  }
}
