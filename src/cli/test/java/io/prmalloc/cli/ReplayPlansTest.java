package io.prmalloc.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
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

/** The output of {@code replay} about plans. */
@Tag("jdk-independent")
class ReplayPlansTest {

  private static final ObjectMapper JSON = new ObjectMapper();

  @TempDir private Path directory;

  private static JsonNode replay(String... options) throws IOException {
    List<String> all = new ArrayList<>(List.of(options));
    // Nothing is written into these 52 MB. Direct memory would be all the same: with zeros.
    all.add("--memory=mmap");
    return replayInput("sample:mobilenet", all.toArray(new String[0]));
  }

  private static JsonNode replayInput(String input, String... options) throws IOException {
    List<String> all = new ArrayList<>(List.of("replay", input));
    all.addAll(List.of("--steps=3", "--json", "--touch=none", "--settle=0"));
    all.addAll(List.of(options));
    Outcome outcome = Outcome.of(all.toArray(new String[0]));
    assertEquals("", outcome.err());
    assertEquals(0, outcome.exitCode());
    return JSON.readTree(outcome.out()).get("runs").get(0);
  }

  @Test
  void shouldReplayPlannedSteps() throws IOException {
    // In direct memory, as by default: mapped memory would be whole pages.
    JsonNode run = replayInput("sample:mobilenet", "--planned", "--api=handle");
    assertEquals("pool", run.get("allocator").asText());
    assertTrue(run.get("planned").asBoolean());
    assertEquals(3, run.get("plannedSteps").asInt());
    assertEquals(0, run.get("departedSteps").asInt());
    assertEquals(51_841_024, run.get("arenaBytes").asLong());
  }

  @Test
  void shouldLetTheReferenceAloneCompeteWhenAsked() throws IOException {
    JsonNode reference = replay("--policies=reference", "--api=handle");
    JsonNode all = replay("--api=handle");
    assertEquals(0, reference.get("misses").asInt() + all.get("misses").asInt());
    assertTrue(all.get("arenaBytes").asLong() < reference.get("arenaBytes").asLong());
    assertFalse(reference.has("planned"));
  }

  @Test
  void shouldStartWarmFromAPlanThatWasKept() throws IOException {
    Path file = directory.resolve("plan.json");
    replay("--api=handle", "--keep-plan=" + file);
    assertTrue(Files.size(file) > 0);
    JsonNode warm = replay("--api=handle", "--plan=" + file);
    assertEquals(0, warm.get("warmupSteps").asInt());
    assertEquals(0, warm.get("misses").asInt() + warm.get("nullBins").asInt());
    assertTrue(warm.get("hits").asInt() > 0);
  }

  @Test
  void shouldReplayIsolated() throws IOException {
    // A few layers are enough: all that isolation writes is memory that is touched.
    StringBuilder layers = new StringBuilder("a t0 200000\n");
    for (int layer = 1; layer < 20; layer++) {
      layers.append("a t" + layer + " 200000\nf t" + (layer - 1) + " 0\n");
    }
    layers.append("f t19 0\n");
    String input = Files.writeString(directory.resolve("layers.ev"), layers).toString();
    JsonNode open = replayInput(input, "--planned");
    JsonNode planned = replayInput(input, "--isolation=zero,canaries", "--planned");
    assertEquals(3, planned.get("plannedSteps").asInt());
    // Canaries need room.
    assertTrue(planned.get("arenaBytes").asLong() > open.get("arenaBytes").asLong());
    JsonNode guarded = replayInput(input, "--isolation=poison", "--memory=guarded");
    assertTrue(guarded.get("hits").asInt() > 0);
    assertEquals(0, guarded.get("misses").asInt());
  }

  @Test
  void shouldSayWhatIsWrongWithIsolation() {
    Outcome bad = Outcome.of("replay", "sample:mobilenet", "--isolation=zero,poison");
    assertEquals(2, bad.exitCode());
    assertTrue(
        bad.err()
            .contains("isolation 'zero,poison' wants memory filled with zeros and with poison"),
        bad.err());
  }

  @Test
  void shouldSayWhatIsWrongWithAPlan() throws IOException {
    Path file = Files.writeString(directory.resolve("plan.json"), "{}");
    Outcome bad = Outcome.of("replay", "sample:mobilenet", "--plan=" + file);
    assertEquals(2, bad.exitCode());
    assertEquals("prmalloc: " + file + ": line 1: field 'format' is missing\n", bad.err());
    Outcome absent = Outcome.of("replay", "sample:mobilenet", "--plan=" + file + "x");
    assertEquals(2, absent.exitCode());
    assertEquals("prmalloc: " + file + "x: is not there\n", absent.err());
  }

  @Test
  void shouldDrawWhatThePoolLearns() throws IOException {
    Path page = directory.resolve("pool.html");
    JsonNode run = replay("--api=handle", "--report=" + page);
    String html = Files.readString(page);
    assertTrue(html.startsWith("<!DOCTYPE html>"));
    assertTrue(html.contains("\"total\":" + run.get("arenaBytes").asLong() + ",\"chosen\":true"));
  }

  @Test
  void shouldTakeTheTimeForThePlanOfAStep() throws IOException {
    JsonNode quick = replay("--planned", "--api=handle", "--planning-time=0");
    assertTrue(quick.get("arenaBytes").asLong() >= 51_841_024);
  }

  @ParameterizedTest
  @CsvSource({
    "--settle, -1",
    "--settle, x",
    "--settle, NaN",
    "--settle, 1e300",
    "--planning-time, NaN",
    "--planning-time, -1",
    "--planning-time, Infinity",
    "--shift=sample:mobilenet --idle, NaN",
    "--shift=sample:mobilenet --idle, 1000000001",
  })
  void shouldRefuseWhatIsNoNumberOfSeconds(String option, String word) {
    Outcome bad =
        Outcome.of(("replay sample:mobilenet --steps=1 " + option + "=" + word).split(" ", -1));
    assertEquals(
        "prmalloc: Invalid value for option '"
            + option.substring(option.lastIndexOf(' ') + 1)
            + "': `"
            + word
            + "` is not a number of seconds from 0 to 1000000000 (see `prmalloc replay --help`)\n",
        bad.err());
    assertEquals(2, bad.exitCode());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--settle=0 --vary=1|--settle 0.0 means nothing where cold steps are measured too: with"
            + " --vary, --shapes, --shift, several INPUTs or a recording as it was",
        "--settle=0 --shift=sample:mobilenet|--settle 0.0 means nothing where cold steps are"
            + " measured too: with --vary, --shapes, --shift, several INPUTs or a recording as it"
            + " was",
      })
  void shouldRefuseToSettleWhenItMeansNothing(String words, String complaint) {
    Outcome bad = Outcome.of(("replay sample:mobilenet " + words).split(" ", -1));
    assertEquals("prmalloc: " + complaint + "\n", bad.err());
    assertEquals(2, bad.exitCode());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--planned|--planned means nothing without pool or planned in --allocator",
        "--plan p.json|--plan p.json means nothing without pool or planned in --allocator",
        "--keep-plan k|--keep-plan k means nothing without pool or planned in --allocator",
        "--isolation zero|--isolation zero means nothing without pool or planned in --allocator",
        "--vary 1 --keep-plan=k|--keep-plan k means nothing without pool or planned in --allocator",
        "--idle 1|--idle 1 means nothing without --shift",
      })
  void shouldRefuseWhatIsForAPoolWhenThereIsNone(String words, String complaint) {
    Outcome bad =
        Outcome.of(
            ("replay sample:mobilenet --steps 1 --allocator malloc,direct " + words)
                .split(" ", -1));
    assertEquals("prmalloc: " + complaint + "\n", bad.err());
    assertEquals(2, bad.exitCode());
    assertEquals("", bad.out());
  }

  @Test
  void shouldTakeWhatIsForAPoolWhenOneIsAmongOthers() throws IOException {
    Path file = directory.resolve("plan.json");
    JsonNode run = replay("--allocator=malloc,planned", "--keep-plan=" + file, "--planned");
    assertEquals("malloc", run.get("allocator").asText());
    assertTrue(Files.size(file) > 0);
  }
}
