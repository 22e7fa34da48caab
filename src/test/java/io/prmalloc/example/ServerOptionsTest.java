package io.prmalloc.example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.djl.OrtEngine;
import io.prmalloc.example.client.LoadMain;
import io.prmalloc.example.model.SampleNetwork;
import io.prmalloc.example.model.ShapeRange;
import io.prmalloc.example.model.TensorBytes;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
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
  @CsvSource({
    "--workers=0, workers 0 is not from 1 to 1024",
    "--workers=-1, workers -1 is not from 1 to 1024",
    "--workers=2147483647, workers 2147483647 is not from 1 to 1024",
    "--port=-1, port -1 is not from 0 to 65535",
    "--port=65536, port 65536 is not from 0 to 65535",
    "--max-connections=0, maxConnections 0 is under 1",
    "--max-request=0, maxRequestBytes 0 is not from 1",
    "--max-request=9223372036854775807, is not from 1",
    "--max-buffered=-1, maxBufferedBytes -1 is under",
    "--idle-timeout=0, idle timeout PT0S is not from 1 ms to 365 days",
    "--head-timeout=9223372036854775807, head timeout PT2562047788015215H30M7S is not from 1 ms",
    "--body-timeout=-9223372036854775808, is not from 1 ms",
    "--answer-timeout=31536001, answer timeout PT8760H1S is not from 1 ms",
  })
  void shouldNameTheBoundThatAnOptionPasses(String option, String reason) throws IOException {
    // On a port that is in use, so that a server that does start ends.
    try (ServerSocket other = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      String port = option.startsWith("--port") ? "--workers=1" : "--port=" + other.getLocalPort();
      assertRefused(ServerMain.commandLine(), reason, port, option);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "--requests=0, --requests 0 is not from 1",
    "--rounds=0, --rounds 0 is not from 1 to 1000",
    "--connections=0, --connections 0 is not from 1 to 256",
    "--workers=0, --workers 0 is not from 1 to 1024",
    "--small=-1, --small -1 is not from 0",
    "--large=-1, --large -1 is not from 0",
    "--seconds=0, --seconds 0 is not from 1 to 86400",
    "--wrk=-1, --wrk -1 is not from 0 to 86400",
  })
  void shouldNameTheBoundThatAnOptionOfTheLoadPasses(String option, String reason) {
    assertRefused(LoadMain.commandLine(), reason, option);
  }

  @Test
  void shouldShowNoPasswordOfAPlanStore() {
    String store = "redis://u:secret@h:1";
    for (String[] arguments :
        new String[][] {
          {"--plan-store=" + store, "--allocator=netty"},
          {"--plan-store=redis://u:secret@h:port"},
          {"--plan-store=REDIS://u:{secret}@h:1"},
          {"--plan-store=http://u:secret@h:1"},
          {"--plan-store=redis:u:secret@h:1"},
        }) {
      StringWriter text = new StringWriter();
      CommandLine command = ServerMain.commandLine().setErr(new PrintWriter(text));
      assertEquals(CommandLine.ExitCode.USAGE, command.execute(arguments), text::toString);
      assertFalse(text.toString().contains("secret"), text::toString);
    }
    ServerOptions options =
        new ServerOptions(
            MemoryKind.POOL, EngineMemory.OWN, null, 0, 1, ServerLimits.DEFAULT, store);
    assertFalse(options.toString().contains("secret"), options::toString);
  }

  private static String oneLine(int exitCode, String... arguments) {
    StringWriter text = new StringWriter();
    CommandLine command = ServerMain.commandLine().setErr(new PrintWriter(text));
    assertEquals(exitCode, command.execute(arguments), text::toString);
    assertEquals(1, text.toString().lines().count(), text::toString);
    return text.toString();
  }

  @Test
  void shouldSayInOneLineWhyItDoesNotServe() throws IOException {
    try (ServerSocket other = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      int port = other.getLocalPort();
      String inUse = oneLine(1, "--port=" + port);
      assertTrue(inUse.startsWith("server: port " + port + ": "), inUse);
    }
    Path noModel = Files.writeString(directory.resolve("text.onnx"), "no model");
    Path empty = Files.createFile(directory.resolve("empty.onnx"));
    for (Path wrong : new Path[] {noModel, empty}) {
      String none = oneLine(2, "--port=0", "--model=" + wrong, "--shape=image=1..4x3x32x32");
      assertTrue(none.startsWith("server: model " + wrong + ": "), none);
    }
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
