package io.prmalloc.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.tflite.TfliteWriter;
import io.prmalloc.trace.MobileNetGraphs;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What {@code docs/arena.md} shows works, and prints what it says. */
class ArenaGuideTest {

  private static final String PROGRAM = "java -jar src/target/prmalloc-cli.jar ";

  private static final String IMPORTS =
      """
      import io.prmalloc.SubAllocator;
      import io.prmalloc.plan.arena.ArenaOptions;
      import io.prmalloc.plan.arena.ArenaPlanner;
      import io.prmalloc.plan.arena.Graph;
      import io.prmalloc.plan.arena.TensorKind;
      import java.nio.ByteBuffer;
      import java.util.List;
      """;

  @TempDir private Path directory;

  /** The texts between fences of a language; "" for those of none. */
  private static List<String> blocks(String language) throws IOException {
    String page = Files.readString(Path.of("..", "docs", "arena.md"));
    List<String> blocks = new ArrayList<>();
    Matcher fence = Pattern.compile("^```(.*)\\n", Pattern.MULTILINE).matcher(page);
    while (fence.find()) {
      String found = fence.group(1);
      int begin = fence.end();
      assertTrue(fence.find(), "a block that does not end");
      if (found.equals(language)) {
        blocks.add(page.substring(begin, fence.start()));
      }
    }
    return blocks;
  }

  @Test
  void shouldCompileAndPrintWhatThePageSaysWhenTheExampleRuns() throws Exception {
    String code = blocks("java").get(0);
    Path source =
        Files.writeString(
            directory.resolve("Example.java"),
            IMPORTS
                + "public final class Example {\n  public static void main(String[] args) {\n"
                + code
                + "  }\n}\n");
    ByteArrayOutputStream errors = new ByteArrayOutputStream();
    int exitCode =
        ToolProvider.getSystemJavaCompiler()
            .run(
                null,
                null,
                errors,
                "-cp",
                System.getProperty("java.class.path"),
                "-d",
                directory.toString(),
                source.toString());
    assertEquals(0, exitCode, errors.toString(StandardCharsets.UTF_8));

    PrintStream standard = System.out;
    ByteArrayOutputStream printed = new ByteArrayOutputStream();
    try (URLClassLoader loader =
        new URLClassLoader(new URL[] {directory.toUri().toURL()}, getClass().getClassLoader())) {
      System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
      loader.loadClass("Example").getMethod("main", String[].class).invoke(null, (Object) args());
    } finally {
      System.setOut(standard);
    }
    assertEquals(
        List.of("551936", "100352"), printed.toString(StandardCharsets.UTF_8).lines().toList());
    assertTrue(
        Files.readString(Path.of("..", "docs", "arena.md"))
            .contains("It prints 551936 and 100352:"));
  }

  private static String[] args() {
    return new String[0];
  }

  @Test
  void shouldSucceedWhenTheCommandsOfThePageRun() throws IOException {
    Path graph = Files.writeString(directory.resolve("graph.json"), blocks("json").get(0));
    Path model =
        Files.write(directory.resolve("model.tflite"), TfliteWriter.model(MobileNetGraphs.v1()));
    List<String> commands =
        blocks("sh").stream().flatMap(String::lines).map(String::strip).toList();
    assertEquals(5, commands.size());
    for (String command : commands) {
      assertTrue(command.startsWith(PROGRAM), command);
      String[] words =
          Arrays.stream(command.substring(PROGRAM.length()).split(" ", -1))
              .map(word -> word.equals("graph.json") ? graph.toString() : word)
              .map(word -> word.equals("model.tflite") ? model.toString() : word)
              .toArray(String[]::new);

      Outcome outcome = Outcome.of(words);

      assertEquals(0, outcome.exitCode(), command + ": " + outcome.err());
      if (command.endsWith("arena graph.json")) {
        assertEquals(blocks("").get(0), outcome.out().replace(graph.toString(), "graph.json"));
      }
    }
  }
}
