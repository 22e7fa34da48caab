package io.prmalloc.example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.djl.OrtEngine;
import io.prmalloc.example.client.LoadMain;
import io.prmalloc.example.model.SampleNetwork;
import io.prmalloc.example.model.ShapeRange;
import io.prmalloc.example.model.TensorBytes;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.SplittableRandom;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** What the server's and the load's command lines refuse. */
class ServerOptionsTest {

  @TempDir private Path directory;
  private Path file;

  @BeforeAll
  static void loadFirst() {
    OrtEngine.load();
  }

  @BeforeEach
  void writeModel() throws Exception {
    file = Files.write(directory.resolve("small.onnx"), SampleNetwork.SMALL.toOnnx());
  }

  private static void assertRefused(CommandLine command, String reason, String... arguments) {
    StringWriter text = new StringWriter();
    int exitCode = command.setErr(new PrintWriter(text)).execute(arguments);
    assertEquals(CommandLine.ExitCode.USAGE, exitCode, text::toString);
    assertTrue(text.toString().contains(reason), text::toString);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          image           | `image` is not INPUT=SIZExSIZE..LARGEST/STEP
          =1x2            | `=1x2` is not INPUT=SIZExSIZE..LARGEST/STEP
          image=1xx3      | input image: dimension 1 `` is not SIZE
          image=1x-3      | input image: dimension 1 `-3` is not SIZE
          image=1x3/2     | input image: dimension 1 `3/2` is not SIZE
          image=0x3       | input image: dimension 0 `0`: size 0 is under 1
          image=8..4x3    | input image: dimension 0 `8..4`: largest size 4 is under 8
          image=1x4..8/0  | input image: dimension 1 `4..8/0`: step 0 is under 1
          image=1x4..9/2  | dimension 1 `4..9/2`: largest size 9 is not 4 and a multiple of step 2
          imago=1x3x32x32 | shape imago=1x3x32x32: the model has no such input
          image=1x3x32    | shape image=1x3x32 has 3 dimensions
          image=1x4x32x32 | shape image=1x4x32x32: dimension 1 is 4, not 3
          """)
  void shouldSayWhatIsWrongWithAShape(String shape, String reason) {
    assertRefused(
        ServerMain.commandLine(), reason, "--port=0", "--model=" + file, "--shape=" + shape);
  }

  @Test
  void shouldSayWhatIsMissingOrTwice() {
    String shape = "--shape=image=1..4x3x32x32";
    for (CommandLine command :
        new CommandLine[] {ServerMain.commandLine(), LoadMain.commandLine()}) {
      assertRefused(command, "--shape image=1..4/1x3x32x32 is given without --model", shape);
    }
    assertRefused(
        ServerMain.commandLine(), "small.onnx is given without --shape", "--model=" + file);
    assertRefused(
        ServerMain.commandLine(),
        "nowhere.onnx: there is no such file",
        "--model=nowhere.onnx",
        shape);
    assertRefused(
        ServerMain.commandLine(), "input image has two shapes", "--model=" + file, shape, shape);
    assertRefused(
        ServerMain.commandLine(),
        "the largest has 49152 bytes, over 49151",
        "--port=0",
        "--model=" + file,
        "--max-request=49151",
        shape);
    assertRefused(ServerMain.commandLine(), "--engine-memory", "--engine-memory=mine");
    assertRefused(
        LoadMain.commandLine(),
        "--engine-memory [OWN, POOL] is given without --model",
        "--engine-memory=own,pool");
    assertRefused(
        LoadMain.commandLine(),
        "--allocators [POOL, NETTY] has 2 kinds, with --model it has 1",
        "--model=" + file,
        shape,
        "--allocators=pool,netty");
  }

  @ParameterizedTest
  @ValueSource(strings = {"x=1x3x128..640/32x128..640/32", "a=b:0=5", "x=1..2/1"})
  void shouldReadWhatItWrites(String shape) throws Exception {
    ShapeRange range = ShapeRange.parse(shape);

    assertEquals(shape, range.toString());
    SplittableRandom random = new SplittableRandom(1);
    for (int i = 0; i < 100; i++) {
      range.check(TensorBytes.list(range.random(random)));
    }
    assertThrows(
        Refusal.class, () -> ShapeRange.parse("x=4").check(TensorBytes.list(new long[] {5})));
  }
}
