package io.prmalloc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.prmalloc.os.ChildJvm;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.spi.ToolProvider;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.agrona.DirectBuffer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A module of somebody else's that requires ours, and nothing more on the module path. */
class ModulePathTest {

  private static final String SERVER =
      """
      package app;

      import io.prmalloc.*;
      import io.prmalloc.lifetime.ScopedMemoryCollector;
      import io.prmalloc.pool.TensorPoolAllocator;

      public class Main {
        public static void main(String[] arguments) throws Exception {
          var builder =
              TensorPoolAllocator.builder()
                  .startStatisticStep(2).stableStatisticStep(2).maxStatisticStep(5);
          switch (arguments[0]) {
            case "mmap" -> builder.subAllocator(SubAllocator.mmap(MmapOptions.DEFAULT));
            case "malloc" -> builder.subAllocator(SubAllocator.posixMemalign());
            case "jmx" -> builder.jmx("module");
            default -> {}
          }
          boolean views = arguments[0].equals("buffer");
          try (TensorPoolAllocator pool = builder.executor(Runnable::run).build()) {
            for (int i = 0; i < 30; i++) {
              try (ScopedMemoryCollector step = pool.collect();
                  Allocation one = pool.allocate(100_000);
                  Allocation other = step.allocate(300)) {
                one.byteBuffer().putLong(0, i);
                other.byteBuffer().put(299, (byte) i);
                if (views && one.buffer().getLong(0) != i) {
                  throw new AssertionError();
                }
              }
            }
            if (!pool.isPooling() || pool.stats().bytesInUse() != 0) {
              throw new AssertionError(pool.poolStats());
            }
          }
          try (Allocation block = AllocatorRegistry.global().allocator().allocate(1000)) {
            block.byteBuffer().put(0, (byte) 1);
          }
          Prmalloc.shutdown();
          System.out.print("done");
        }
      }
      """;

  @TempDir private Path directory;
  private String modulePath;

  @BeforeEach
  void compile() throws Exception {
    Path ours = CoreAloneTest.placeOf(Allocator.class);
    assumeTrue(
        !Files.isDirectory(ours) || Files.exists(ours.resolve("module-info.class")),
        "the classes were compiled without their module");
    Path sources = Files.createDirectories(directory.resolve("sources/app"));
    Path module = sources.resolveSibling("module-info.java");
    Files.writeString(module, "module m { requires io.prmalloc; }");
    Path main = Files.writeString(sources.resolve("Main.java"), SERVER);
    String needed =
        Stream.of(
                ours,
                CoreAloneTest.placeOf(DirectBuffer.class),
                CoreAloneTest.placeOf(com.sun.jna.Native.class))
            .map(Path::toString)
            .collect(Collectors.joining(File.pathSeparator));
    Path classes = directory.resolve("classes");
    List<String> arguments =
        List.of(
            "-d",
            classes.toString(),
            "-p",
            needed,
            "-Xlint:all",
            "-Werror",
            module.toString(),
            main.toString());
    assertEquals(
        0,
        ToolProvider.findFirst("javac")
            .orElseThrow()
            .run(System.out, System.err, arguments.toArray(new String[0])));
    modulePath = needed + File.pathSeparator + classes;
  }

  @ParameterizedTest
  @ValueSource(strings = {"direct", "jmx", "mmap", "malloc"})
  void shouldServeWithoutFlagsWhenAModuleRequiresIt(String memory) throws Exception {
    assumeTrue(
        !memory.startsWith("m") || System.getProperty("os.name").equals("Linux"),
        "JNA is used on Linux only");
    ChildJvm.Result result = new ChildJvm(directory).runModule(modulePath, "m/app.Main", memory);
    assertEquals("done", result.output(), result.errors());
    assertEquals(0, result.exitCode(), result.errors());
  }

  @Test
  void shouldNameTheModuleInTheFlagThatAgronasBuffersNeed() throws Exception {
    ChildJvm.Result refused = new ChildJvm(directory).runModule(modulePath, "m/app.Main", "buffer");
    assertFalse(refused.exitCode() == 0);
    String flag = "--add-opens java.base/jdk.internal.misc=org.agrona";
    assertTrue(refused.errors().contains(flag + " "), refused.errors());
    ChildJvm.Result result =
        new ChildJvm(directory)
            .flags(flag.split(" ", -1))
            .runModule(modulePath, "m/app.Main", "buffer");
    assertEquals("done", result.output(), result.errors());
  }
}
