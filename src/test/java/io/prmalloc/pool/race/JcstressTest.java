package io.prmalloc.pool.race;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.internal.freelist.BlockRaces;
import io.prmalloc.internal.freelist.BufferRaces;
import io.prmalloc.internal.freelist.FreeIndexRaces;
import io.prmalloc.internal.os.ChildJvm;
import io.prmalloc.internal.slab.BlockStackRaces;
import io.prmalloc.internal.slab.IndexStackRaces;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.openjdk.jcstress.Main;

/**
 * Runs the races {@link BlockRaces}, {@link BlockStackRaces}, {@link BufferRaces}, {@link
 * FreeIndexRaces}, {@link IndexStackRaces} and {@link PoolRaces}. Here in short form, all or those
 * that {@code proof.jcstress.only} names, in one JVM; the profile {@code proof} runs them in full,
 * in JVMs of several settings for each race.
 */
public class JcstressTest {

  /** Few samples and one way to compile, to see within seconds that nothing is plainly broken. */
  private static final String SHORT =
      "-m quick -c 2 -iters 1 -time 20 -strideSize 16 -strideCount 5";

  private static final Pattern COUNTS =
      Pattern.compile(
          "\\(Results: (\\d+) planned; (\\d+) passed, (\\d+) failed, (\\d+) soft errs, (\\d+) hard"
              + " errs\\)");

  @TempDir private Path directory;

  @Test
  void shouldMeetOnlyListedOutcomesWhenThreadsRace() throws Exception {
    String full = System.getProperty("proof.jcstress");
    List<String> arguments = new ArrayList<>(List.of("-r", directory.resolve("report").toString()));
    arguments.addAll(List.of((full == null ? SHORT : full).split(" ", -1)));
    Optional.ofNullable(System.getProperty("proof.jcstress.only"))
        .ifPresent(races -> arguments.addAll(List.of("-t", races)));
    if (full == null) {
      runInOneJvm(arguments);
    } else {
      runInJvmsOfTheirOwn(arguments);
    }
  }

  private void runInOneJvm(List<String> arguments) throws Exception {
    ChildJvm.Result result =
        new ChildJvm(directory)
            .withC2()
            .flags("-Xmx256m", "-XX:+UseSerialGC")
            .inDirectory()
            .run(JcstressMain.class, arguments.toArray(new String[0]));
    assertEquals(0, result.exitCode(), () -> result.output() + result.errors());
    long passed = result.output().lines().filter(line -> line.contains(" passed, ")).count();
    long tests = tests(selected(arguments));
    assertTrue(tests > 0 && passed == tests, () -> "of tests: " + tests + "\n" + result.output());
  }

  private void runInJvmsOfTheirOwn(List<String> arguments) throws Exception {
    ChildJvm.Result result =
        new ChildJvm(directory)
            .withC2()
            .flags("-Xmx512m")
            .inDirectory()
            .run(Main.class, arguments.toArray(new String[0]));
    String output = result.output();
    // Its exit code is 0 whatever it finds.
    assertEquals(0, result.exitCode(), result.errors());
    Optional<MatchResult> last = COUNTS.matcher(output).results().reduce((earlier, later) -> later);
    assertTrue(last.isPresent(), output);
    int planned = Integer.parseInt(last.get().group(1));
    long tests = tests(selected(arguments));
    assertTrue(tests > 0 && planned >= tests, planned + " planned, of so many tests: " + tests);
    assertEquals(planned, Integer.parseInt(last.get().group(2)), () -> failures(output));
    assertTrue(output.contains("Failed tests: No matches."), () -> failures(output));
    assertTrue(output.contains("Error tests: No matches."), () -> failures(output));
  }

  /** What jcstress's {@code -t} asks for, or all. */
  private static Pattern selected(List<String> arguments) {
    int option = arguments.indexOf("-t");
    return Pattern.compile(option < 0 ? "\\S" : arguments.get(option + 1));
  }

  /** As many of those as the annotation processor found. */
  private static long tests(Pattern selected) throws Exception {
    Path list = Path.of(JcstressTest.class.getResource("/META-INF/TestList").toURI());
    try (var lines = Files.lines(list)) {
      return lines.filter(line -> selected.matcher(line).find()).count();
    }
  }

  private static String failures(String output) {
    return output.substring(Math.max(0, output.indexOf("RUN RESULTS")));
  }
}
