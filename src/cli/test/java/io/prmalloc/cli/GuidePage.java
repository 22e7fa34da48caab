package io.prmalloc.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.ToolProvider;

/**
 * A page of the user guide, whose code and commands can be run.
 *
 * <p>Threading: immutable.
 *
 * @param text the page
 */
public record GuidePage(String text) {

  private static final String PROGRAM = "java -jar src/target/prmalloc-cli.jar ";

  /** The page of this name in {@code docs}. */
  public static GuidePage of(String name) throws IOException {
    return new GuidePage(Files.readString(Path.of("..", "..", "docs", name)));
  }

  /** The texts between fences of a language; "" for those of none. */
  public List<String> blocks(String language) {
    List<String> blocks = new ArrayList<>();
    Matcher fence = Pattern.compile("^```(.*)\\n", Pattern.MULTILINE).matcher(text);
    while (fence.find()) {
      String found = fence.group(1);
      int begin = fence.end();
      assertTrue(fence.find(), "a block that does not end");
      if (found.equals(language)) {
        blocks.add(text.substring(begin, fence.start()));
      }
    }
    return blocks;
  }

  /**
   * Compiles statements, runs them, and answers what they printed.
   *
   * @param directory where there is room
   */
  public static List<String> linesOf(String imports, String statements, Path directory)
      throws Exception {
    Path source =
        Files.writeString(
            directory.resolve("Example.java"),
            imports
                + "public final class Example {\n"
                + "  public static void main(String[] args) throws Exception {\n"
                + statements
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
        new URLClassLoader(
            new URL[] {directory.toUri().toURL()}, GuidePage.class.getClassLoader())) {
      System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
      loader
          .loadClass("Example")
          .getMethod("main", String[].class)
          .invoke(null, (Object) new String[0]);
    } finally {
      System.setOut(standard);
    }
    return printed.toString(StandardCharsets.UTF_8).lines().toList();
  }

  /** The commands of the page, without the program's own words. */
  List<String> commands() {
    List<String> commands =
        blocks("sh").stream().flatMap(String::lines).map(String::strip).toList();
    for (String command : commands) {
      assertTrue(command.startsWith(PROGRAM), command);
    }
    return commands.stream().map(command -> command.substring(PROGRAM.length())).toList();
  }

  /**
   * Runs a command, which must succeed.
   *
   * @param files what words of it stand for
   * @return what it printed, with the words of the page
   */
  static String run(String command, Map<String, Path> files) {
    String[] words = command.split(" ", -1);
    for (int i = 0; i < words.length; i++) {
      words[i] = files.containsKey(words[i]) ? files.get(words[i]).toString() : words[i];
    }
    Outcome outcome = Outcome.of(words);
    assertEquals(0, outcome.exitCode(), command + ": " + outcome.err());
    String out = outcome.out();
    for (Map.Entry<String, Path> file : files.entrySet()) {
      out = out.replace(file.getValue().toString(), file.getKey());
    }
    return out;
  }
}
