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
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
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

  private static final Path STDIN = Path.of("/dev/stdin");
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
        Arguments.of("plan /dev/stdin --strategy exact --out OUT", lives),
        Arguments.of("plan /dev/stdin --strategy exact", ForeignTraces.gzip(lives)),
        Arguments.of("plan /dev/stdin --strategy greedy-by-size", tflite),
        Arguments.of("arena /dev/stdin", tflite),
        Arguments.of("arena /dev/stdin", onnx),
        Arguments.of("learn /dev/stdin --steps 1", events),
        Arguments.of("simulate /dev/stdin", lives),
        Arguments.of("convert /dev/stdin --to lifetimes --out OUT", lives),
        Arguments.of("replay /dev/stdin --steps 1 --settle 0 --allocator malloc", events),
        Arguments.of("replay /dev/stdin --steps 1 --vary 1 --allocator malloc", events));
  }

  private Outcome run(String words, byte[] input) throws IOException, InterruptedException {
    assumeTrue(Files.exists(STDIN), "there is no /dev/stdin");
    Path out = directory.resolve("out");
    Path err = directory.resolve("err");
    String written = directory.resolve("written").toString();
    Process process =
        MainProcess.of(words.replace("OUT", written).split(" ", -1))
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

  @ParameterizedTest
  @MethodSource("commandsAndInputs")
  void shouldReadAPipeAsItReadsAFile(String words, byte[] input)
      throws IOException, InterruptedException {
    Outcome outcome = run(words, input);

    assertEquals("", outcome.err());
    assertEquals(0, outcome.exitCode());
    if (words.contains("OUT")) {
      assertTrue(Files.size(directory.resolve("written")) >= LIVES.length());
    } else {
      assertTrue(outcome.out().startsWith("/dev/stdin: "), outcome.out());
    }
  }

  @Test
  void shouldSayThatAPipeIsEmpty() throws IOException, InterruptedException {
    Outcome outcome = run("plan /dev/stdin", new byte[0]);

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
