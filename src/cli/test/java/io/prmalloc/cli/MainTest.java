package io.prmalloc.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.prmalloc.SharedData;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class MainTest {

  private static final ObjectMapper JSON = new ObjectMapper();

  @TempDir private Path directory;

  /** What a command left behind. */
  private record Outcome(int exitCode, String out, String err) {}

  private static Outcome run(String... args) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    int exitCode = Main.execute(new PrintWriter(out, true), new PrintWriter(err, true), args);
    return new Outcome(exitCode, out.toString(), err.toString());
  }

  private static Outcome runWords(String words) {
    return run(words.isBlank() ? new String[0] : words.split(" ", -1));
  }

  @ParameterizedTest
  @ValueSource(strings = {"--help", "replay --help", "learn --help", "plan --help"})
  void shouldExplainWhenAskedForHelp(String words) {
    Outcome outcome = runWords(words);

    assertEquals(0, outcome.exitCode);
    assertEquals("", outcome.err);
    assertTrue(outcome.out.startsWith("Usage: prmalloc "), outcome.out);
    assertTrue(outcome.out.contains("\n  prmalloc "), "an example in " + outcome.out);
    assertTrue(outcome.out.lines().allMatch(line -> line.length() <= 80), outcome.out);
  }

  @Test
  void shouldTellItsVersionWhenAsked() {
    Outcome outcome = run("--version");

    assertEquals(0, outcome.exitCode);
    assertTrue(outcome.out.startsWith("prmalloc"), outcome.out);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "''|no command is given (see `prmalloc --help`)",
        "lern|Unmatched argument at index 0: 'lern' (see `prmalloc --help`)",
        "learn --steps 5|Missing required parameter: 'INPUT' (see `prmalloc learn --help`)",
        "learn sample:mobilenet|Missing required option: '--steps=N' (see `prmalloc learn --help`)",
        "learn sample:mobilenet --steps 0|steps 0 is out of bounds; the least is 1",
        "learn sample:mobilenet --steps -3|steps -3 is out of bounds; the least is 1",
        "learn sample:mobilenet --steps x|Invalid value for option '--steps': 'x' is not an int"
            + " (see `prmalloc learn --help`)",
        "learn sample:mobilenet --steps 1 --header -1|header -1 is not from 0 to 1073741824",
        "learn sample:x --steps 1|sample:x is not there; there are sample:mobilenet,"
            + " sample:mobilenet-v1 and sample:mobilenet-v2",
        "learn absent.ev --steps 1|absent.ev: is not there",
        "replay absent.ev|absent.ev: is not there",
        "replay sample:mobilenet --steps 0|steps 0 is out of bounds; the least is 1",
        "replay sample:mobilenet --steps -1|steps -1 is out of bounds; the least is 1",
        "replay sample:mobilenet --threads 0|threads 0 is out of bounds; the least is 1",
        "replay sample:mobilenet --warmup-steps 0|warmup-steps 0 is out of bounds; the least is 1",
        "replay sample:mobilenet --batch 4|sample:mobilenet takes no --format, --batch or --device",
        "replay sample:mobilenet --allocator glibc|Invalid value for option '--allocator' (NAME):"
            + " allocator `glibc` is none of pool, planned, direct, cpu, netty, netty-adaptive,"
            + " jemalloc, mimalloc, malloc (see `prmalloc replay --help`)",
        "replay sample:mobilenet --touch some|Invalid value for option '--touch': expected one of"
            + " [NONE, FIRST, PAGE, ALL] (case-insensitive) but was 'some' (see `prmalloc replay"
            + " --help`)",
      })
  void shouldComplainInOneLineWhenUsedBadly(String words, String complaint) {
    Outcome outcome = runWords(words);

    assertEquals("prmalloc: " + complaint + System.lineSeparator(), outcome.err);
    assertEquals(2, outcome.exitCode);
    assertEquals("", outcome.out);
  }

  @Test
  void shouldNameFileAndLineWhenTheInputIsWrong() throws IOException {
    Path file = Files.writeString(directory.resolve("bad.ev"), "a x 5\nf x\n");

    Outcome outcome = run("learn", file.toString(), "--steps", "1", "--json");

    assertEquals(2, outcome.exitCode);
    assertEquals("", outcome.out);
    assertEquals(
        "prmalloc: "
            + file
            + ":2: has 2 fields instead of 3, or 4 with a thread, expected `a ID SIZE`, `r ID SIZE` or"
            + " `f ID 0`"
            + System.lineSeparator(),
        outcome.err);
  }

  @Test
  void shouldTakeNoArgumentsFromAFile() throws IOException {
    Path file = Files.writeString(directory.resolve("arguments"), "sample:mobilenet --steps=1\n");

    Outcome outcome = run("learn", "@" + file);

    assertEquals(2, outcome.exitCode());
    assertEquals("", outcome.out);
  }

  @Test
  void shouldPrintTheReferencesPlanWhenLearningWithJson() throws IOException {
    Path events = SharedData.path("events/nested.ev");

    Outcome outcome = run("learn", events.toString(), "--steps", "2", "--json");

    assertEquals(0, outcome.exitCode);
    assertEquals("", outcome.err);
    assertEquals(
        JSON.readTree(SharedData.path("golden/nested.2.json").toFile()),
        JSON.readTree(outcome.out));
  }

  @Test
  void shouldReadAProfileWhenTheBatchIsGiven() {
    Path profile = SharedData.path("mnn/Squeezenet");

    Outcome outcome =
        run("learn", profile.toString(), "--batch", "2", "--format", "mnn", "--steps", "1");

    assertEquals(0, outcome.exitCode);
    assertTrue(
        outcome.out.startsWith(profile + " batch 2: 1080 tensors, load 118533224 bytes, 1 step\n"),
        outcome.out);
  }

  @Test
  void shouldPrintOneDocumentWhenReplayingWithJson() throws IOException {
    Outcome outcome =
        run(
            "replay",
            "sample:mobilenet",
            "--steps=3",
            "--warmup-steps=2",
            "--settle=0",
            "--touch=first",
            "--allocator=pool,malloc",
            "--json");

    assertEquals(0, outcome.exitCode);
    assertEquals("", outcome.err);
    JsonNode report = JSON.readTree(outcome.out);
    assertEquals("sample:mobilenet", report.get("input").asText());
    assertEquals(256, report.get("eventsPerStep").asInt());
    assertEquals(51_841_024, report.get("lowerBoundBytes").asLong());
    JsonNode pool = report.get("runs").get(0);
    assertEquals("pool", pool.get("allocator").asText());
    for (String key :
        List.of(
            "threads",
            "steps",
            "nanosPerPair",
            "minorFaultsPerStep",
            "majorFaultsPerStep",
            "heapBytesPerStep",
            "peakReservedBytes",
            "peakRssBytes",
            "hits",
            "misses",
            "nullBins",
            "policyIntervalBytes",
            "warmupSteps")) {
      assertTrue(pool.path(key).isNumber(), key + " in " + outcome.out);
    }
    for (String key : List.of("p50", "p99", "max")) {
      assertTrue(pool.path("microsPerStep").path(key).isNumber(), key + " in " + outcome.out);
    }
    assertEquals("malloc", report.get("runs").get(1).get("allocator").asText());
    assertEquals(1, outcome.out.lines().count());
  }

  @Test
  void shouldPrintATableWhenReplayingWithoutJson() {
    Outcome outcome =
        run("replay", "sample:mobilenet", "--steps=5", "--settle=0", "--allocator", "MALLOC");

    assertEquals(0, outcome.exitCode);
    assertEquals("", outcome.err);
    assertTrue(outcome.out.startsWith("sample:mobilenet: 128 tensors a step"), outcome.out);
    assertFalse(outcome.out.contains("pool"), outcome.out);
  }

  @Test
  void shouldExitWithOneWhenTheWorkFails() throws IOException, InterruptedException {
    Path out = directory.resolve("out");
    Path err = directory.resolve("err");
    Process process =
        MainProcess.of(
                List.of("-XX:MaxDirectMemorySize=16m"),
                "replay",
                "sample:mobilenet",
                "--steps=1",
                "--settle=0",
                "--allocator=direct",
                "--json")
            .redirectOutput(out.toFile())
            .redirectError(err.toFile())
            .start();

    int exitCode = process.waitFor();

    String complaint = Files.readString(err);
    assertEquals(1, exitCode, complaint);
    String reason = "direct: thread 0, step 0, allocating tensor conv1/output of 12845056 bytes: ";
    assertTrue(complaint.startsWith("prmalloc: " + reason), complaint);
    assertEquals(1, complaint.lines().count());
    JsonNode run = JSON.readTree(Files.readString(out)).get("runs").get(0);
    assertTrue(("direct: " + run.get("failed").asText()).startsWith(reason), run.toString());
  }

  /** A disk without room, or a pipe without a reader. */
  private static int runWithoutOutput(String reason, StringWriter err, String... args) {
    OutputStream full =
        new OutputStream() {
          @Override
          public void write(int next) throws IOException {
            throw new IOException(reason);
          }
        };
    return Main.execute(full, new PrintWriter(err, true), args);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "--help",
        "plan sample:mobilenet --strategy greedy-by-size --json",
        "plan sample:mobilenet --memory fast=1M,slow=64M",
        "simulate sample:mobilenet",
        "learn sample:mobilenet --steps 1",
        "learn sample:mobilenet --steps 1 --json",
        "arena sample:mobilenet-v1",
        "replay sample:mobilenet --steps 1 --settle 0 --allocator malloc",
        "swap PROFILE --batch 2 --json",
      })
  void shouldExitWithOneWhenStandardOutputCannotBeWritten(String words) {
    String[] args = words.split(" ", -1);
    for (int i = 0; i < args.length; i++) {
      args[i] = args[i].equals("PROFILE") ? SharedData.path("mnn/Squeezenet").toString() : args[i];
    }
    StringWriter err = new StringWriter();

    int exitCode = runWithoutOutput("No space left on device", err, args);

    assertEquals(
        "prmalloc: standard output cannot be written: No space left on device"
            + System.lineSeparator(),
        err.toString());
    assertEquals(1, exitCode);
  }

  @Test
  void shouldEndQuietlyWhenTheReaderOfItsOutputIsGone() {
    StringWriter err = new StringWriter();

    int exitCode = runWithoutOutput("Broken pipe", err, "simulate", "sample:mobilenet");

    assertEquals("", err.toString());
    assertEquals(0, exitCode);
  }

  @Test
  void shouldNoticeAFullDeviceAsAProgram() throws IOException, InterruptedException {
    Path full = Path.of("/dev/full");
    assumeTrue(Files.isWritable(full), "there is no /dev/full");
    Path err = directory.resolve("err");
    Process process =
        MainProcess.of("simulate", "sample:mobilenet")
            .redirectOutput(full.toFile())
            .redirectError(err.toFile())
            .start();

    assertEquals(1, process.waitFor());
    assertEquals(1, Files.readAllLines(err).size());
  }
}
