package io.prmalloc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.prmalloc.cli.Main;
import io.prmalloc.internal.os.ChildJvm;
import java.io.File;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The command line as a module, with only what it requires on the module path. */
class CliModuleTest {

  private static String modulePath;

  @TempDir private Path directory;

  @BeforeAll
  static void findModules() throws Exception {
    Path ours = placeOf(Main.class);
    assumeTrue(
        !Files.isDirectory(ours) || Files.exists(ours.resolve("module-info.class")),
        "the classes were compiled without their module");
    StringBuilder places = new StringBuilder(ours.toString());
    for (Class<?> type :
        new Class<?>[] {
          Allocator.class,
          org.agrona.DirectBuffer.class,
          com.sun.jna.Native.class,
          picocli.CommandLine.class,
          com.google.protobuf.CodedInputStream.class,
          com.fasterxml.jackson.core.JsonFactory.class,
          com.fasterxml.jackson.annotation.JsonIgnore.class,
          ObjectMapper.class,
          org.HdrHistogram.Histogram.class,
          me.tongfei.progressbar.ProgressBar.class,
          org.jline.terminal.Terminal.class,
          org.jline.nativ.JLineNativeLoader.class,
          com.google.flatbuffers.Table.class,
          io.netty.buffer.ByteBuf.class,
          io.netty.util.ReferenceCounted.class
        }) {
      places.append(File.pathSeparator).append(placeOf(type));
    }
    modulePath = places.toString();
  }

  private static Path placeOf(Class<?> type) throws URISyntaxException {
    return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI());
  }

  private ChildJvm.Result run(String... arguments) throws Exception {
    return new ChildJvm(directory)
        .flags("--add-opens", "java.base/jdk.internal.misc=org.agrona")
        .runModule(modulePath, "io.prmalloc.cli/io.prmalloc.cli.Main", arguments);
  }

  @Test
  void shouldReplayInProcessesOfItsOwnWhenItIsAModule() throws Exception {
    Path trace = Files.writeString(directory.resolve("trace.ev"), "a x 100000\nf x 0\n");
    ChildJvm.Result result =
        run(
            "replay",
            trace.toString(),
            "--vary=1",
            "--steps=20",
            "--allocator=pool,netty",
            "--json");

    assertEquals(0, result.exitCode(), result.output() + result.errors());
    assertEquals(2, new ObjectMapper().readTree(result.output()).get("runs").size());
  }

  @Test
  void shouldWriteAPageWhenItIsAModule() throws Exception {
    Path page = directory.resolve("plan.html");
    ChildJvm.Result result =
        run("plan", "sample:mobilenet-v2", "--strategy=greedy-by-size", "--report=" + page);

    assertEquals(0, result.exitCode(), result.output() + result.errors());
    assertTrue(Files.readString(page).contains("</html>"));
  }
}
