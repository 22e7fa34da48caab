package io.prmalloc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ai.onnxruntime.OrtEnvironment;
import io.prmalloc.example.model.OpenNetwork;
import io.prmalloc.internal.os.ChildJvm;
import java.io.File;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.spi.ToolProvider;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.agrona.DirectBuffer;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A user's module that requires ours, with nothing more on the module path. */
class ModulePathTest {

  private static final String SERVER =
      """
      package app;

      import io.prmalloc.*;
      import io.prmalloc.lifetime.ScopedMemoryCollector;
      import io.prmalloc.pool.TensorPoolAllocator;

      public class Main {
        public static void main(String[] arguments) throws Exception {
          for (String memory : arguments) {
            serve(memory);
            System.out.print(memory + " ");
          }
          try (Allocation block = AllocatorRegistry.global().allocator().allocate(1000)) {
            block.byteBuffer().put(0, (byte) 1);
          }
          Prmalloc.shutdown();
          System.out.print("done");
        }

        private static void serve(String memory) throws Exception {
          var builder =
              TensorPoolAllocator.builder()
                  .startStatisticStep(2).stableStatisticStep(2).maxStatisticStep(5);
          switch (memory) {
            case "mmap" -> builder.subAllocator(SubAllocator.mmap(MmapOptions.DEFAULT));
            case "malloc" -> builder.subAllocator(SubAllocator.posixMemalign());
            case "jmx" -> builder.jmx("module");
            default -> {}
          }
          boolean views = memory.equals("buffer");
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
              throw new AssertionError(memory + ": " + pool.poolStats());
            }
          }
        }
      }
      """;

  private static final String ENGINE =
      """
      package app;

      import ai.onnxruntime.*;
      import io.prmalloc.onnxruntime.*;
      import io.prmalloc.pool.TensorPoolAllocator;
      import java.nio.FloatBuffer;
      import java.util.Map;

      public class Main {
        public static void main(String[] arguments) throws Exception {
          OrtEnvironment environment = OrtEnvironment.getEnvironment();
          try (TensorPoolAllocator pool = TensorPoolAllocator.builder().build();
              var engine = OrtEnvironmentAllocator.install(environment, pool);
              var options = new OrtSession.SessionOptions();
              OrtSession session = engine.createSession(arguments[0], options);
              OnnxTensor input =
                  OnnxTensor.createTensor(
                      environment, FloatBuffer.allocate(640), new long[] {1, 10, 64})) {
            for (int i = 0; i < 3; i++) {
              try (EngineRun run = engine.openRun("module");
                  OrtSession.Result result = run.run(session, Map.of("in", input))) {
                if (result.size() != 1 || engine.stats().tensors() == 0) {
                  throw new AssertionError(engine.stats());
                }
              }
            }
          }
          System.out.print("done");
        }
      }
      """;

  @TempDir private static Path compiled;

  /** Of the server, which is the same for all tests. */
  private static String modulePath;

  @TempDir private Path directory;

  @BeforeAll
  static void compileServer() throws Exception {
    modulePath = compile(compiled, "module m { requires io.prmalloc; }", SERVER);
  }

  /** Returns the module path to run it with. */
  private static String compile(
      Path directory, String moduleSource, String mainSource, Path... more) throws Exception {
    Path ours = CoreAloneTest.placeOf(Allocator.class);
    assumeTrue(
        !Files.isDirectory(ours) || Files.exists(ours.resolve("module-info.class")),
        "the classes were compiled without their module");
    Path sources = Files.createDirectories(directory.resolve("sources/app"));
    Path module = sources.resolveSibling("module-info.java");
    Files.writeString(module, moduleSource);
    Path main = Files.writeString(sources.resolve("Main.java"), mainSource);
    String needed =
        Stream.concat(
                Stream.of(
                    ours,
                    CoreAloneTest.placeOf(DirectBuffer.class),
                    CoreAloneTest.placeOf(com.sun.jna.Native.class)),
                Stream.of(more))
            .map(Path::toString)
            .collect(Collectors.joining(File.pathSeparator));
    Path classes = directory.resolve("classes");
    List<String> arguments =
        List.of(
            "-d",
            classes.toString(),
            "-p",
            needed,
            // ONNX Runtime is an automatic module, of which there would be a warning.
            "-Xlint:all,-requires-automatic",
            "-Werror",
            module.toString(),
            main.toString());
    assertEquals(
        0,
        ToolProvider.findFirst("javac")
            .orElseThrow()
            .run(System.out, System.err, arguments.toArray(new String[0])));
    return needed + File.pathSeparator + classes;
  }

  @Test
  void shouldServeWithoutFlagsWhenAModuleRequiresIt() throws Exception {
    // JNA, which the last two need, is used on Linux only.
    String[] memory =
        System.getProperty("os.name").equals("Linux")
            ? new String[] {"direct", "jmx", "mmap", "malloc"}
            : new String[] {"direct", "jmx"};
    ChildJvm.Result result = new ChildJvm(directory).runModule(modulePath, "m/app.Main", memory);
    assertEquals(String.join(" ", memory) + " done", result.output(), result.errors());
    assertEquals(0, result.exitCode(), result.errors());
  }

  @Test
  void shouldNameTheModulesItNeedsWhenJdepsLooks() {
    StringWriter said = new StringWriter();
    PrintWriter out = new PrintWriter(said);
    int exitCode =
        ToolProvider.findFirst("jdeps")
            .orElseThrow()
            .run(
                out,
                out,
                "-summary",
                "--multi-release=17",
                "--module-path=" + modulePath,
                "--module=m");
    assertEquals(0, exitCode, said::toString);
    assertEquals(
        List.of("m -> io.prmalloc", "m -> java.base", "m -> org.agrona"),
        said.toString().lines().toList());
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
    assertEquals("buffer done", result.output(), result.errors());
  }

  @Test
  void shouldServeTheEngineWithoutFlagsWhenItIsAnAutomaticModule() throws Exception {
    String engine =
        compile(
            directory,
            "module m { requires io.prmalloc; requires com.microsoft.onnxruntime; }",
            ENGINE,
            CoreAloneTest.placeOf(OrtEnvironment.class));
    Path model = directory.resolve("model.onnx");
    Files.write(model, OpenNetwork.TRANSFORMER.toOnnx());
    ChildJvm.Result result =
        new ChildJvm(directory).runModule(engine, "m/app.Main", model.toString());
    assertEquals("done", result.output(), result.errors());
    assertEquals(0, result.exitCode(), result.errors());
  }
}
