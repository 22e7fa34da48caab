package io.prmalloc.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CtrlCTest {

  private static final int SIGINT_EXIT_CODE = 130;
  private static final String IGNORED_SIGNALS = "SigIgn:";
  private static final long SIGINT_BIT = 1 << 1;

  @TempDir private Path directory;

  private static void assumeSignals() throws IOException {
    assumeTrue(Files.isExecutable(Path.of("/bin/kill")), "there is no /bin/kill");
    assumeFalse(isInterruptIgnored(), "SIGINT is ignored here, as in the background of a script");
  }

  private static void press(Process process) throws IOException, InterruptedException {
    new ProcessBuilder("/bin/kill", "-INT", Long.toString(process.pid())).start().waitFor();
  }

  /** A JVM that searches for a day is sent the signal that Ctrl-C sends. */
  @Test
  void shouldPrintAndWriteTheBestFoundWhenPressed() throws IOException, InterruptedException {
    assumeSignals();
    Path input = Files.writeString(directory.resolve("lives.csv"), lives());
    Path out = directory.resolve("placed.csv");
    Path printed = directory.resolve("printed");
    Path errors = directory.resolve("errors");
    int exitCode = -1;
    // Nothing tells from outside that the search has begun; a signal before ends the JVM at once.
    for (long seconds = 2; seconds <= 64 && !Files.exists(out); seconds *= 2) {
      Process process =
          MainProcess.of(
                  "plan",
                  input.toString(),
                  "--strategy=heuristic",
                  "--search=annealing",
                  "--timeout=86400",
                  "--out=" + out,
                  "--json")
              .redirectOutput(printed.toFile())
              .redirectError(errors.toFile())
              .start();
      try {
        process.waitFor(seconds, TimeUnit.SECONDS);
        press(process);
        exitCode = process.waitFor();
      } finally {
        process.destroyForcibly();
      }
    }

    assertEquals("", Files.readString(errors));
    assertEquals(SIGINT_EXIT_CODE, exitCode);
    JsonNode result = new ObjectMapper().readTree(printed.toFile()).get("results").get(0);
    assertTrue(result.get("valid").asBoolean());
    assertEquals(301, Files.readAllLines(out).size());
  }

  /** What is true of a replay that goes on. */
  @FunctionalInterface
  private interface Condition {
    boolean holds(Process replay) throws IOException;
  }

  /** A run of steps without end, as far as a test is concerned. */
  private Outcome pressWhen(Condition condition, String... words)
      throws IOException, InterruptedException {
    assumeSignals();
    Path input = Files.writeString(directory.resolve("one.ev"), "a x 1000\nf x 0\n");
    Path printed = directory.resolve("printed");
    Path errors = directory.resolve("errors");
    List<String> all = new ArrayList<>(List.of("replay", input.toString()));
    all.addAll(List.of(words));
    Process replay =
        MainProcess.of(all.toArray(String[]::new))
            .redirectOutput(printed.toFile())
            .redirectError(errors.toFile())
            .start();
    try {
      while (replay.isAlive() && !condition.holds(replay)) {
        Thread.sleep(20);
      }
      press(replay);
      int exitCode = replay.waitFor();
      return new Outcome(exitCode, Files.readString(printed), Files.readString(errors));
    } finally {
      replay.descendants().forEach(ProcessHandle::destroyForcibly);
      replay.destroyForcibly();
    }
  }

  @Test
  void shouldPrintTheRunsThatAreOverWhenPressed() throws IOException, InterruptedException {
    Path kept = directory.resolve("kept.json");

    // The pool's run is over when its plan is kept; a mapping for each tensor takes minutes.
    Outcome outcome =
        pressWhen(
            replay -> Files.exists(kept),
            "--steps=20000000",
            "--settle=0",
            "--allocator=pool,cpu,malloc",
            "--memory=mmap",
            "--keep-plan=" + kept,
            "--json");

    assertEquals("", outcome.err());
    assertEquals(SIGINT_EXIT_CODE, outcome.exitCode());
    JsonNode runs = new ObjectMapper().readTree(outcome.out()).get("runs");
    assertEquals(20_000_000, runs.get(0).get("steps").asInt());
    assertTrue(runs.get(0).has("nanosPerPair"), runs::toString);
    assertEquals("cpu was interrupted", runs.get(1).get("skipped").asText());
    assertEquals("malloc did not begin", runs.get(2).get("skipped").asText());
  }

  @Test
  void shouldEndTheProcessThatMeasuresWhenPressed() throws IOException, InterruptedException {
    AtomicReference<ProcessHandle> measuring = new AtomicReference<>();

    Outcome outcome =
        pressWhen(
            replay -> {
              replay
                  .children()
                  .filter(child -> Linux.commandLine(child).contains("--run-here=cpu"))
                  .forEach(measuring::set);
              return measuring.get() != null;
            },
            "--steps=20000000",
            "--vary=1",
            "--allocator=malloc,cpu",
            "--memory=mmap");

    assertEquals("", outcome.err());
    assertEquals(SIGINT_EXIT_CODE, outcome.exitCode());
    assertTrue(outcome.out().matches("(?s).*\nmalloc  +[0-9].*"), outcome.out());
    assertTrue(outcome.out().endsWith("\nskipped: cpu was interrupted\n"), outcome.out());
    measuring.get().onExit().join();
  }

  @Test
  void shouldSayThatNoRunIsOverWhenPressedInTheFirst() throws IOException, InterruptedException {
    Outcome outcome =
        pressWhen(
            replay -> Linux.threads(replay).contains("replay-0"),
            "--shift=sample:mobilenet",
            "--idle=3600",
            "--allocator=pool,planned");

    assertEquals("prmalloc: interrupted before a run was over\n", outcome.err());
    assertEquals(SIGINT_EXIT_CODE, outcome.exitCode());
    assertEquals("", outcome.out());
  }

  /** What Linux tells of a process; nothing elsewhere, or of one that is over. */
  private static final class Linux {

    static String commandLine(ProcessHandle process) {
      return read(Path.of("/proc", Long.toString(process.pid()), "cmdline"));
    }

    static List<String> threads(Process process) throws IOException {
      assumeTrue(Files.isDirectory(Path.of("/proc/self/task")), "/proc is not Linux's");
      try (Stream<Path> tasks =
          Files.list(Path.of("/proc", Long.toString(process.pid()), "task"))) {
        return tasks.map(task -> read(task.resolve("comm")).strip()).toList();
      } catch (NoSuchFileException over) {
        return List.of();
      }
    }

    private static String read(Path file) {
      try {
        return Files.readString(file, StandardCharsets.ISO_8859_1);
      } catch (IOException over) {
        return "";
      }
    }
  }

  /** Whether this process ignores the signal; then so does every child, for ever. */
  private static boolean isInterruptIgnored() throws IOException {
    Path status = Path.of("/proc/self/status");
    return Files.isReadable(status)
        && Files.readAllLines(status).stream()
            .filter(line -> line.startsWith(IGNORED_SIGNALS))
            .map(line -> line.substring(IGNORED_SIGNALS.length()).strip())
            .anyMatch(mask -> (Long.parseUnsignedLong(mask, 16) & SIGINT_BIT) != 0);
  }

  /** So many that no order reaches the load, at which the search would end by itself. */
  private static String lives() {
    SplittableRandom random = new SplittableRandom(3);
    StringBuilder csv = new StringBuilder("id,lower,upper,size\n");
    for (int i = 0; i < 300; i++) {
      int lower = random.nextInt(100);
      csv.append(i)
          .append(',')
          .append(lower)
          .append(',')
          .append(lower + random.nextInt(1, 60))
          .append(',')
          .append(random.nextInt(1, 1_000_000))
          .append('\n');
    }
    return csv.toString();
  }

  @Test
  void shouldNotBePressedWhenNobodyPresses() {
    try (CtrlC ctrlC = CtrlC.caught()) {
      assertEquals(false, ctrlC.isPressed());
    }
  }
}
