package io.prmalloc.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CtrlCTest {

  private static final int SIGINT_EXIT_CODE = 130;
  private static final String IGNORED_SIGNALS = "SigIgn:";
  private static final long SIGINT_BIT = 1 << 1;

  @TempDir private Path directory;

  /** A JVM that searches for a day is sent the signal that Ctrl-C sends. */
  @Test
  void shouldPrintAndWriteTheBestFoundWhenPressed() throws IOException, InterruptedException {
    assumeTrue(Files.isExecutable(Path.of("/bin/kill")), "there is no /bin/kill");
    assumeFalse(isInterruptIgnored(), "SIGINT is ignored here, as in the background of a script");
    Path input = Files.writeString(directory.resolve("lives.csv"), lives());
    Path out = directory.resolve("placed.csv");
    Path printed = directory.resolve("printed");
    Path errors = directory.resolve("errors");
    int exitCode = -1;
    // Nothing tells from outside that the search has begun; a signal before ends the JVM at once.
    for (long seconds = 2; seconds <= 64 && !Files.exists(out); seconds *= 2) {
      Process process =
          new ProcessBuilder(
                  Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                  "-cp",
                  System.getProperty("java.class.path"),
                  Main.class.getName(),
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
        new ProcessBuilder("/bin/kill", "-INT", Long.toString(process.pid())).start().waitFor();
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
