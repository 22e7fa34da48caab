package io.prmalloc.cli;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The files that commands write: which are refused before the work, and what is told after it. */
@Tag("jdk-independent")
class OutputsTest {

  private static final String TABLE = "id,lower,upper,size\na,0,2,4\nb,1,3,4\n";
  private static final String EVENTS = "a x 5\nf x 0\n";

  @TempDir private Path directory;

  private Path file(String name, String text) throws IOException {
    return Files.writeString(directory.resolve(name), text);
  }

  private Outcome run(String words) {
    return Outcome.of(words.replace("DIR", directory.toString()).split(" ", -1));
  }

  private List<String> files() throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files.map(path -> path.getFileName().toString()).sorted().toList();
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "plan sample:mobilenet --out",
        "plan sample:mobilenet --report",
        "convert sample:mobilenet --to events --out",
        "replay sample:mobilenet --keep-plan",
        "replay sample:mobilenet --plan",
        "swap sample:mobilenet --report",
      })
  void shouldRefuseAnEmptyPath(String words) {
    Outcome outcome = Outcome.of((words + " ").split(" ", -1));

    assertEquals(2, outcome.exitCode());
    assertTrue(outcome.err().contains("'" + words.replaceAll(".* ", "")), outcome.err());
    assertTrue(outcome.err().contains("the path is empty"), outcome.err());
  }

  @ParameterizedTest
  @ValueSource(strings = {"plan", "arena", "simulate", "replay", "swap"})
  void shouldRefuseAnEmptyInput(String command) {
    Outcome outcome = Outcome.of(command, "");

    assertEquals(2, outcome.exitCode());
    assertEquals("prmalloc: the input is an empty path\n", outcome.err());
  }

  /** Before the input, which is not there, is missed. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "plan DIR/absent --out DIR/x/y|DIR/x/y: its directory is not there",
        "plan DIR/absent --report DIR/x/y|DIR/x/y: its directory is not there",
        "plan DIR/absent --out DIR|DIR: is a directory",
        "plan DIR/absent --report DIR/old/y|DIR/old/y: its directory is not there",
        "plan DIR/absent --out DIR/f --report DIR/./f|--out and --report are the same file DIR/./f",
        "plan DIR/absent --out DIR/old --report DIR/link|--out and --report are the same file"
            + " DIR/link",
        "convert DIR/absent --to events --out DIR/x/y|DIR/x/y: its directory is not there",
        "convert DIR/absent --to events --out DIR|DIR: is a directory",
        "convert DIR/absent --to events --out /dev/null|/dev/null: is no regular file",
        "replay DIR/absent --keep-plan DIR/x/y|DIR/x/y: its directory is not there",
        "replay DIR/absent --report DIR|DIR: is a directory",
        "replay DIR/absent --keep-plan /dev/null|/dev/null: is no regular file",
        "replay DIR/absent --keep-plan DIR/f --report DIR/f|--keep-plan and --report are the same"
            + " file DIR/f",
        "swap DIR/absent --report DIR/x/y|DIR/x/y: its directory is not there",
      })
  void shouldRefuseAnOutputBeforeTheWork(String words, String complaint) throws IOException {
    file("old", "before");
    Files.createSymbolicLink(directory.resolve("link"), Path.of("old"));

    Outcome outcome = run(words);

    assertEquals(
        "prmalloc: " + complaint.replace("DIR", directory.toString()) + System.lineSeparator(),
        outcome.err());
    assertEquals(2, outcome.exitCode());
    assertEquals("", outcome.out());
    assertEquals(List.of("link", "old"), files());
    assertEquals("before", Files.readString(directory.resolve("old")));
  }

  @Test
  void shouldNameTheFileWhenItsDirectoryTakesNone() {
    assumeTrue(Files.exists(Path.of("/proc/self")), "there is no /proc");

    Outcome outcome = run("plan sample:mobilenet --out /proc/x");

    assertEquals(2, outcome.exitCode());
    assertTrue(outcome.err().startsWith("prmalloc: /proc/x: "), outcome.err());
    assertEquals("", outcome.out());
  }

  @ParameterizedTest
  @ValueSource(strings = {"--out", "--report"})
  void shouldPrintThePlansWhenTheFileIsNotWritten(String option) throws IOException {
    assumeTrue(Files.exists(Path.of("/dev/full")), "there is no /dev/full");
    Path table = file("t.csv", TABLE);

    Outcome outcome = run("plan " + table + " --strategy exact " + option + " /dev/full");

    assertEquals(1, outcome.exitCode());
    assertTrue(outcome.out().contains("exact"), outcome.out());
    assertEquals("prmalloc: /dev/full: No space left on device\n", outcome.err());
  }

  @ParameterizedTest
  @ValueSource(strings = {" --settle 0", " --vary 1", " --shift DIR/other --idle 0"})
  void shouldPrintTheRunsWhenThePageIsNotWritten(String options) throws IOException {
    assumeTrue(Files.exists(Path.of("/dev/full")), "there is no /dev/full");
    file("trace", "a x 100000\nf x 0\n");
    file("other", "a x 200000\nf x 0\n");

    Outcome outcome = run("replay DIR/trace --steps 3 --api handle --report /dev/full" + options);

    assertEquals(1, outcome.exitCode());
    assertTrue(outcome.out().contains("\npool"), outcome.out());
    assertEquals("prmalloc: /dev/full: No space left on device\n", outcome.err());
  }

  /** While the input, a pipe, is waited for. */
  private Outcome runWhileTheDirectoryGoes(String words) throws Exception {
    Path pipe = directory.resolve("pipe");
    assumeTrue(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor() == 0);
    Path gone = Files.createDirectory(directory.resolve("gone"));
    FutureTask<Outcome> command = new FutureTask<>(() -> run(words));
    new Thread(command, "command").start();
    // The pipe is open when the command reads it, which is after it looked at its outputs.
    try (OutputStream in = Files.newOutputStream(pipe)) {
      Files.delete(gone);
      in.write("a x 100000\nf x 0\n".getBytes(StandardCharsets.UTF_8));
    }
    return command.get();
  }

  @Test
  void shouldFailWhenTheConvertedTraceIsNotWritten() throws Exception {
    Outcome outcome =
        runWhileTheDirectoryGoes("convert DIR/pipe --to events --format events --out DIR/gone/x");

    assertEquals(1, outcome.exitCode());
    assertEquals(
        "prmalloc: " + directory.resolve("gone/x") + ": its directory is not there\n",
        outcome.err());
  }

  @Test
  void shouldPrintTheRunWhenThePlanIsNotWritten() throws Exception {
    Outcome outcome =
        runWhileTheDirectoryGoes(
            "replay DIR/pipe --steps 20 --settle 0 --api handle --keep-plan DIR/gone/x");

    assertEquals(1, outcome.exitCode());
    assertTrue(outcome.out().matches("(?s).*\npool  +[0-9].*"), outcome.out());
    assertEquals(
        "prmalloc: pool: " + directory.resolve("gone/x") + ": cannot be written\n", outcome.err());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "plan IN --batch 2 --out IN/x",
        "plan IN --batch 2 --report IN/../in/x",
        "plan IN --batch 2 --out DIR/link",
        "swap IN --batch 2 --report IN/x",
        "convert IN --batch 2 --to events --out IN/x",
        "replay IN --batch 2 --keep-plan IN/x",
        "replay sample:mobilenet --shift IN --shift-batch 2 --report IN/x",
      })
  void shouldRefuseToWriteIntoADirectoryThatIsRead(String words) throws IOException {
    Path in = Files.createDirectory(directory.resolve("in"));
    Files.writeString(in.resolve("part"), "before");
    Files.createSymbolicLink(directory.resolve("link"), Path.of("in", "part"));

    Outcome outcome = run(words.replace("IN", in.toString()));

    assertEquals(2, outcome.exitCode());
    assertTrue(
        outcome.err().endsWith(" would lie in the input " + in + ", a directory that is read\n"),
        outcome.err());
    assertEquals("before", Files.readString(in.resolve("part")));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", " --vary 1", " --shift sample:mobilenet-v1", " --planned"})
  void shouldRefuseToKeepThePlansOfTwoPoolsInOneFile(String options) throws IOException {
    Outcome outcome =
        run(
            "replay sample:mobilenet --steps 3 --settle 0 --api handle --allocator pool,planned"
                + " --keep-plan DIR/f"
                + options);

    if (options.equals(" --planned")) {
      // One pool, said twice.
      assertEquals(0, outcome.exitCode(), outcome.err());
      assertEquals(List.of("f"), files());
      return;
    }
    assertEquals(2, outcome.exitCode());
    assertEquals(
        "prmalloc: --keep-plan "
            + directory.resolve("f")
            + " takes one plan, but both pool and planned would write theirs\n",
        outcome.err());
    assertEquals(List.of(), files());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "plan DIR/t.csv --strategy exact --report DIR/t.csv",
        "plan DIR/t.csv --strategy exact --report DIR/link",
        "plan DIR/link --strategy exact --report DIR/t.csv",
        "plan DIR/e.ev --strategy exact --out DIR/e.ev",
        "plan DIR/t.csv.gz --strategy exact --out DIR/t.csv.gz",
        "convert DIR/t.csv --to events --out DIR/link",
        "replay DIR/e.ev --steps 20 --settle 0 --keep-plan DIR/e.ev",
        "replay DIR/e.ev --steps 20 --settle 0 --report DIR/e.ev",
        "replay DIR/e.ev --steps 20 --settle 0 --plan DIR/t.csv --report DIR/link",
        "replay DIR/t.csv DIR/e.ev --steps 20 --keep-plan DIR/e.ev",
        "replay DIR/t.csv --shift DIR/e.ev --steps 20 --keep-plan DIR/e.ev",
      })
  void shouldRefuseToReplaceTheInput(String words) throws IOException {
    file("t.csv", TABLE);
    file("e.ev", EVENTS);
    Files.createSymbolicLink(directory.resolve("link"), Path.of("t.csv"));
    Path packed = directory.resolve("t.csv.gz");
    try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(packed))) {
      out.write(TABLE.getBytes(StandardCharsets.UTF_8));
    }
    byte[] before = Files.readAllBytes(packed);

    Outcome outcome = run(words);

    assertEquals(2, outcome.exitCode(), outcome.err());
    assertTrue(outcome.err().endsWith("which it would replace\n"), outcome.err());
    assertEquals("", outcome.out());
    assertEquals(TABLE, Files.readString(directory.resolve("t.csv")));
    assertEquals(EVENTS, Files.readString(directory.resolve("e.ev")));
    assertEquals(List.of("e.ev", "link", "t.csv", "t.csv.gz"), files());
    assertArrayEquals(before, Files.readAllBytes(packed));
  }

  @Test
  void shouldNotTakeADirectoryForTheFileWhenItIsTheInput() {
    Outcome outcome = run("plan / --out DIR/f --report DIR/g");

    assertEquals(2, outcome.exitCode());
    assertTrue(outcome.err().startsWith("prmalloc: /: "), outcome.err());
  }

  @Test
  void shouldWriteATableOverItself() throws IOException {
    Path table = file("t.csv", TABLE);

    assertEquals(0, run("plan DIR/t.csv --strategy exact --out DIR/t.csv").exitCode());

    assertTrue(Files.readString(table).startsWith("id,lower,upper,size,offset\na,0,2,4,"));
  }

  /** Which is more than a few milliseconds of work for one of the strategies. */
  private Path longStep() throws IOException {
    StringBuilder text = new StringBuilder("id,lower,upper,size\n");
    for (int i = 0; i < 2000; i++) {
      text.append(i).append(',').append(i).append(',').append(i + 9).append(",1\n");
    }
    return file("long.csv", text.toString());
  }

  @Test
  void shouldWriteTheBestPlanWhenAStrategyAmongAllIsTooSlow() throws IOException {
    Path out = directory.resolve("o.csv");

    Outcome outcome = run("plan " + longStep() + " --timeout 0.02 --out " + out);

    assertEquals("", outcome.err());
    assertEquals(0, outcome.exitCode());
    assertTrue(
        outcome.out().contains("skipped: min-cost-flow by offsets did not end within 0.02 s"),
        outcome.out());
    assertEquals(2001, Files.readAllLines(out).size());
  }

  @Test
  void shouldSayWhatIsWrittenWhenANamedStrategyIsTooSlow() throws IOException {
    Path input = longStep();
    Path out = directory.resolve("o.csv");
    String slow = " --strategy min-cost-flow --kind offsets --timeout 0.02 --out " + out;
    String complaint = "prmalloc: min-cost-flow by offsets did not end within 0.02 s; " + out;

    Outcome alone = run("plan " + input + slow);
    assertEquals(1, alone.exitCode());
    assertEquals(complaint + " is not written\n", alone.err());
    assertFalse(Files.exists(out));

    Outcome withOther = run("plan " + input + slow + " --strategy exact");
    assertEquals(1, withOther.exitCode());
    assertEquals(complaint + " is written with the best plan there is\n", withOther.err());
    assertEquals(2001, Files.readAllLines(out).size());
  }
}
