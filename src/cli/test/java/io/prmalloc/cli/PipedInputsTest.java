package io.prmalloc.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.prmalloc.onnx.OnnxWriter;
import io.prmalloc.tflite.TfliteWriter;
import io.prmalloc.trace.ForeignTraces;
import io.prmalloc.trace.MobileNetGraphs;
import java.io.IOException;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Pipes as the input of every command. */
@Tag("jdk-independent")
class PipedInputsTest {

  private static final String STDIN = "/dev/stdin";
  private static final String EVENTS = "a x 1000\na y 500\nf x 0\nf y 0\n";
  private static final String LIVES = "id,lower,upper,size\nx,0,3,1000\ny,1,2,500\n";

  @TempDir private Path directory;

  static Stream<Arguments> commandsAndInputs() {
    byte[] events = EVENTS.getBytes(StandardCharsets.UTF_8);
    byte[] lives = LIVES.getBytes(StandardCharsets.UTF_8);
    byte[] tflite = TfliteWriter.model(MobileNetGraphs.v1());
    byte[] onnx =
        OnnxWriter.model(13, g -> g.input("x", "1x1000").node("Relu", "x", "y").output("y"));
    return Stream.of(
        Arguments.of("plan PIPE --strategy exact --out OUT", lives),
        Arguments.of("plan PIPE --strategy exact", ForeignTraces.gzip(lives)),
        Arguments.of("plan PIPE --strategy greedy-by-size", tflite),
        Arguments.of("arena PIPE", tflite),
        Arguments.of("arena PIPE", onnx),
        Arguments.of("learn PIPE --steps 1", events),
        Arguments.of("simulate PIPE", lives),
        Arguments.of("convert PIPE --to lifetimes --out OUT", lives),
        Arguments.of("replay PIPE --steps 1 --settle 0 --allocator malloc", events),
        Arguments.of("replay PIPE --steps 1 --vary 1 --allocator malloc", events));
  }

  /** Runs a command with a pipe as its input: a named one, for which it needs no process. */
  private Outcome runHere(String words, Path pipe, byte[] input) throws Exception {
    assumeTrue(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor() == 0);
    AtomicBoolean over = new AtomicBoolean();
    FutureTask<Void> writer =
        new FutureTask<>(
            () -> {
              byte[] left = input;
              while (!over.get()) {
                // Opens when a reader does. Who opens it a second time finds nothing.
                try (OutputStream out = Files.newOutputStream(pipe)) {
                  out.write(left);
                }
                left = new byte[0];
              }
              return null;
            });
    new Thread(writer, "writer").start();
    Outcome outcome = Outcome.of(arguments(words.replace("PIPE", pipe.toString())));
    over.set(true);
    // Opened for both, it waits for nobody, and the writer does not either.
    try (RandomAccessFile both = new RandomAccessFile(pipe.toFile(), "rw")) {
      assertTrue(both.getFD().valid());
      writer.get();
    }
    return outcome;
  }

  private String[] arguments(String words) {
    return words.replace("OUT", written().toString()).split(" ", -1);
  }

  private Path written() {
    return directory.resolve("written");
  }

  /** Runs a command that reads its standard input, which is a pipe without a name. */
  private Outcome runAsAProgram(String words, byte[] input)
      throws IOException, InterruptedException {
    assumeTrue(Files.exists(Path.of(STDIN)), "there is no " + STDIN);
    Path out = directory.resolve("out");
    Path err = directory.resolve("err");
    Process process =
        MainProcess.of(arguments(words.replace("PIPE", STDIN)))
            .redirectOutput(out.toFile())
            .redirectError(err.toFile())
            .start();
    try (OutputStream in = process.getOutputStream()) {
      in.write(input);
    } catch (IOException closed) {
      // It ended without reading all, and says why.
      assertTrue(process.waitFor() != 0);
    }
    return new Outcome(process.waitFor(), Files.readString(out), Files.readString(err));
  }

  private void check(String words, String pipe, Outcome outcome) throws IOException {
    assertEquals("", outcome.err());
    assertEquals(0, outcome.exitCode());
    if (words.contains("OUT")) {
      assertTrue(Files.size(written()) >= LIVES.length());
    } else {
      assertTrue(outcome.out().startsWith(pipe + ": "), outcome.out());
    }
  }

  @ParameterizedTest
  @MethodSource("commandsAndInputs")
  void shouldReadAPipeAsItReadsAFile(String words, byte[] input) throws Exception {
    Path pipe = directory.resolve("pipe");
    check(words, pipe.toString(), runHere(words, pipe, input));
  }

  /** One reader of text, one of a model. */
  @Test
  void shouldReadStandardInputAsItReadsAFile() throws IOException, InterruptedException {
    String plan = "plan PIPE --strategy exact --out OUT";
    check(plan, STDIN, runAsAProgram(plan, LIVES.getBytes(StandardCharsets.UTF_8)));
    String arena = "arena PIPE";
    check(arena, STDIN, runAsAProgram(arena, TfliteWriter.model(MobileNetGraphs.v1())));
  }

  @Test
  void shouldSayThatAPipeIsEmpty() throws IOException, InterruptedException {
    Outcome outcome = runAsAProgram("plan PIPE", new byte[0]);

    assertEquals("prmalloc: /dev/stdin: is empty\n", outcome.err());
    assertEquals(2, outcome.exitCode());
  }

  @ParameterizedTest
  @CsvSource({
    "plan /dev/zero, /dev/zero: is a device and no file",
    "arena /dev/null, /dev/null: is a device and no file",
    "learn / --steps 1 --format events, /: is a directory and no file",
    "simulate / --format graph, /: is a directory and no graph",
  })
  void shouldSayWhatIsNoFile(String words, String complaint) {
    assumeTrue(Files.exists(Path.of("/dev/zero")), "there is no /dev/zero");

    Outcome outcome = Outcome.of(words.split(" ", -1));

    assertEquals("prmalloc: " + complaint + "\n", outcome.err());
    assertEquals(2, outcome.exitCode());
  }
}
