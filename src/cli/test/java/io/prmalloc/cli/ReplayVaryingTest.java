package io.prmalloc.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.prmalloc.recording.Recorder;
import io.prmalloc.recording.RecordingOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The output of {@code replay} about traffic that varies, each allocator in a process of its own.
 */
class ReplayVaryingTest {

  private static final ObjectMapper JSON = new ObjectMapper();

  @TempDir private Path directory;
  private String one;
  private String other;

  @BeforeEach
  void writeTraces() throws IOException {
    one = write("one.ev", "a x 100000\na y 100\nf x 0\nf y 0\n");
    other = write("other.ev", "a x 500000\nf x 0\n");
  }

  private String write(String name, String events) throws IOException {
    return Files.writeString(directory.resolve(name), events).toString();
  }

  private Outcome replay(String words) {
    return Outcome.of(
        ("replay " + words.replace("ONE", one).replace("OTHER", other)).split(" ", -1));
  }

  private JsonNode json(String words) throws IOException {
    Outcome outcome = replay(words + " --json");
    assertEquals("", outcome.err());
    assertEquals(0, outcome.exitCode());
    assertEquals(1, outcome.out().lines().count());
    return JSON.readTree(outcome.out());
  }

  /** Ends the process that runs an allocator, as the system does when memory is short. */
  private static void killWhenItRuns(String allocator) {
    Thread killer =
        new Thread(
            () -> {
              Optional<ProcessHandle> found = Optional.empty();
              while (found.isEmpty() && !Thread.currentThread().isInterrupted()) {
                // The process is there for much longer; without a pause this takes a processor.
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
                found =
                    ProcessHandle.current()
                        .children()
                        .filter(child -> arguments(child).contains("--run-here=" + allocator))
                        .findFirst();
              }
              found.ifPresent(ProcessHandle::destroyForcibly);
            },
            "killer");
    killer.setDaemon(true);
    killer.start();
  }

  private static List<String> arguments(ProcessHandle process) {
    return process.info().arguments().map(List::of).orElse(List.of());
  }

  @Test
  void shouldPrintTheOtherRunsWhenAProcessDies() {
    assumeFalse(arguments(ProcessHandle.current()).isEmpty(), "nothing tells arguments here");
    killWhenItRuns("cpu");

    Outcome outcome = replay("ONE --vary 1 --steps 1000000 --allocator malloc,cpu --api handle");

    assertEquals(1, outcome.exitCode());
    assertTrue(outcome.out().matches("(?s).*\nmalloc  +[0-9].*\ncpu  +failed\n"), outcome.out());
    assertEquals("prmalloc: cpu: its process ended with 137\n", outcome.err());
  }

  /** A process of a later run: the file could be written when the command began. */
  @Test
  void shouldKeepTheFiguresOfAProcessWhoseFileCanNoLongerBeWritten() throws IOException {
    Path gone = directory.resolve("gone").resolve("plan");

    Outcome outcome =
        replay("ONE --vary 1 --steps 20 --api handle --run-here=pool --keep-plan " + gone);

    assertEquals("", outcome.err());
    assertEquals(0, outcome.exitCode());
    String run = outcome.out().lines().filter(line -> line.startsWith("run ")).findFirst().get();
    JsonNode figures = JSON.readTree(run.substring("run ".length()));
    assertEquals(gone + ": cannot be written", figures.get("failed").asText());
    assertTrue(figures.has("nanosPerPair"), run);
  }

  @Test
  void shouldSayWhatTheProcessRefuses() throws IOException {
    Path plan = Files.writeString(directory.resolve("plan"), "{}");

    Outcome outcome = replay("ONE --vary 1 --steps 20 --plan " + plan);

    assertEquals("prmalloc: " + plan + ": line 1: field 'format' is missing\n", outcome.err());
    assertEquals(2, outcome.exitCode());
    assertEquals("", outcome.out());
  }

  @Test
  void shouldPrintTimesAndMemoryOfEachAllocatorSideBySide() throws IOException {
    JsonNode report =
        json(
            "ONE --vary 0.5..2 --shapes 3 --seed 9 --steps 40 --touch all --allocator pool,malloc");

    assertEquals(one, report.get("input").asText());
    assertEquals(9, report.get("seed").asLong());
    assertEquals(3, report.get("factors").size());
    assertEquals(2.0, report.get("vary").get(1).asDouble());
    assertEquals(200_000 + 200, report.get("loadBytes").asLong());
    assertEquals(2, report.get("runs").size());
    for (JsonNode run : report.get("runs")) {
      assertEquals(1, run.get("threads").asInt());
      assertEquals(40, run.get("steps").asInt());
      for (String key :
          List.of("microsPerStep", "firstHundredMicrosPerStep", "steadyMicrosPerStep")) {
        assertTrue(run.get(key).get("p50").asDouble() > 0, run::toString);
        assertTrue(
            run.get(key).get("p99").asDouble() <= run.get(key).get("max").asDouble(),
            run::toString);
      }
      long start = run.get("startRssBytes").asLong();
      assertTrue(start > 1 << 20, run::toString);
      assertTrue(run.get("endRssBytes").asLong() > 1 << 20, run::toString);
      assertTrue(run.get("peakRssBytes").asLong() >= start, run::toString);
    }
  }

  @Test
  void shouldMixInputsByWeight() throws IOException {
    JsonNode report = json("ONE OTHER --weights 3,1 --steps 20 --threads 2 --allocator cpu");

    assertEquals(one + ", " + other, report.get("input").asText());
    assertTrue(report.get("vary").isNull());
    JsonNode inputs = report.get("inputs");
    assertEquals(2, inputs.size());
    assertEquals(3.0, inputs.get(0).get("weight").asDouble());
    assertEquals(other, inputs.get(1).get("input").asText());
    assertEquals(500_000, inputs.get(1).get("loadBytes").asLong());
    assertEquals(2, report.get("runs").get(0).get("threads").asInt());
  }

  @ParameterizedTest
  @CsvSource({"mimalloc", "jemalloc"})
  void shouldPutALibraryInMallocsPlaceOrSayWhyNot(String library) throws IOException {
    JsonNode run = json("ONE --vary 1 --steps 5 --allocator " + library).get("runs").get(0);

    assertEquals(library, run.get("allocator").asText());
    assertTrue(run.has("skipped") != run.has("endRssBytes"), run::toString);
    if (run.has("skipped")) {
      assertTrue(
          run.get("skipped").asText().startsWith(library + " cannot be loaded: "), run::toString);
    }
  }

  @Test
  void shouldPrintATableForPeople() {
    Outcome outcome = replay("ONE --shapes 2 --steps 10 --allocator planned,netty-adaptive");

    assertEquals("", outcome.err());
    assertEquals(0, outcome.exitCode());
    List<String> lines = outcome.out().lines().toList();
    assertEquals(one + ": 2 tensors a step", lines.get(0));
    assertEquals(
        "sizes times 0.25..1.0, 2 factors in random order, seed 1; at least 100160 bytes for the"
            + " largest step",
        lines.get(1));
    assertEquals("threads 1, steps 10, touch first, api raw, memory direct", lines.get(2));
    assertTrue(lines.get(4).startsWith("allocator "), outcome::out);
    assertTrue(lines.get(5).matches("planned +[0-9. ]+"), outcome::out);
    assertTrue(lines.get(6).matches("netty-adaptive +[0-9. ]+"), outcome::out);
    assertTrue(lines.get(8).startsWith("planned steps: planned "), outcome::out);
  }

  private String record() {
    Path file = directory.resolve("server.rec");
    try (Recorder recorder = Recorder.start(file, RecordingOptions.DEFAULT, () -> {})) {
      for (int i = 0; i < 30; i++) {
        long step = recorder.stepOpened();
        recorder.released(recorder.allocated(40_000 + i, 64));
        recorder.stepClosed(step);
      }
    }
    return file.toString();
  }

  @Test
  void shouldReplayARecordingAsItWas() throws IOException {
    JsonNode report = json(record() + " --allocator malloc --touch all");

    assertTrue(report.get("recorded").asBoolean());
    assertEquals(1, report.get("recordedThreads").asInt());
    assertEquals(30, report.get("recordedSteps").asInt());
    assertEquals(30, report.get("recordedAllocations").asInt());
    assertEquals(40_029, report.get("loadBytes").asLong());
    JsonNode run = report.get("runs").get(0);
    assertEquals(30, run.get("steps").asInt());
    assertTrue(run.get("steadyMicrosPerStep").get("p50").asDouble() > 0, run::toString);
  }

  @Test
  void shouldTakeARecordingForOneStepWhenToldHowManyStepsThereAre() throws IOException {
    JsonNode report = json(record() + " --allocator malloc --steps 2");

    assertFalse(report.has("recorded"));
    assertEquals(60, report.get("eventsPerStep").asInt());
  }

  @Test
  void shouldExitWithOneWhenARunFails() throws IOException {
    String large = write("large.ev", "a x 2147483519\nf x 0\n");
    Outcome outcome =
        Outcome.of(
            "replay",
            large,
            "--vary=1",
            "--steps=1",
            "--allocator=direct",
            "--touch=none",
            "--json");

    // The child has our flags, and so the bound of direct memory that our pom.xml sets.
    JsonNode run = JSON.readTree(outcome.out()).get("runs").get(0);
    assertTrue(run.has("failed"), run::toString);
    assertEquals(1, outcome.exitCode());
    assertEquals(
        "prmalloc: direct: " + run.get("failed").asText() + System.lineSeparator(), outcome.err());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "ONE --vary x|Invalid value for option '--vary': `x` is not A..B with numbers from 0"
            + " to 1000000 (see `prmalloc replay --help`)",
        "ONE --vary 2..1|Invalid value for option '--vary': factors 2.0..1.0: the first"
            + " exceeds the second (see `prmalloc replay --help`)",
        "ONE --vary 1..1000000|ONE: tensor x of 100000 bytes times 1000000.0 exceeds 2147483519,"
            + " the most that can be replayed",
        "ONE --shapes 0|shapes 0 is not from 1 to 1000000",
        "ONE --shapes 1000001|shapes 1000001 is not from 1 to 1000000, nor 0 for any factor",
        "ONE --vary 1 --steps 0|steps 0 is out of bounds; the least is 1",
        "ONE OTHER --threads 1025|threads 1025 exceeds 1024",
        "ONE OTHER --weights 1|weights [1.0] are 1, inputs are 2",
        "ONE OTHER --weights 1,-2|weight -2.0 is not from 0 to 1000000000",
        "ONE OTHER --weights 0,0|weights [0.0, 0.0] are all 0",
        "ONE absent.ev|absent.ev: is not there",
        "absent.rec|absent.rec: is not there",
        "ONE --seed 4|--seed 4 means nothing without --vary, --shapes or several INPUTs",
        "ONE OTHER --shift ONE|--shift ONE cannot be combined with a second INPUT OTHER",
      })
  void shouldComplainInOneLineWhenUsedBadly(String words, String complaint) {
    Outcome outcome = replay(words);

    assertEquals(
        "prmalloc: "
            + complaint.replace("ONE", one).replace("OTHER", other)
            + System.lineSeparator(),
        outcome.err());
    assertEquals(2, outcome.exitCode());
    assertEquals("", outcome.out());
  }
}
