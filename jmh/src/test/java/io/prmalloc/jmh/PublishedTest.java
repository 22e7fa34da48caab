package io.prmalloc.jmh;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.prmalloc.jmh.rival.Rival;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("jdk-independent")
class PublishedTest {

  /** With what JMH takes for itself, it is the half hour that the results page speaks of. */
  private static final long MOST_MILLIS = 30 * 60_000;

  @TempDir Path folder;

  private final ByteArrayOutputStream said = new ByteArrayOutputStream();

  private Published published(String... arguments) {
    return Published.of(List.of(arguments), new PrintStream(said, true, StandardCharsets.UTF_8));
  }

  @Test
  void shouldTakeNoMoreThanHalfAnHourWhenEverythingIsThere() {
    long millis = published().millis(Slice.all(List.of("data/Squeezenet@2", "data/MobilenetV2@4")));
    assertTrue(millis <= MOST_MILLIS, () -> millis + " ms");
  }

  @Test
  void shouldNameEverySliceOnceWhenListed() {
    List<Slice> slices = Slice.all(List.of("x"));
    assertEquals(
        slices.size(), slices.stream().map(Slice::name).collect(Collectors.toSet()).size());
    for (Slice slice : slices) {
      assertTrue(slice.settings() >= slice.rivals().size(), slice::name);
    }
  }

  @Test
  void shouldSayWhatIsSkippedWhenThereIsNoData() {
    List<Slice> slices =
        published("--data", folder.toString(), "--only", "steps,pair", "--rivals", "MALLOC")
            .slices();

    assertEquals(List.of("pair", "steps"), slices.stream().map(Slice::name).toList());
    assertEquals(List.of("sample:mobilenet"), slices.get(1).params().get("trace"));
    assertEquals(EnumSet.of(Rival.MALLOC), slices.get(0).rivals());
    String text = said.toString(StandardCharsets.UTF_8);
    assertTrue(text.contains("mnn/Squeezenet@2 is skipped: it is not in " + folder), text);
  }

  @Test
  void shouldTakeTheModelsWhenTheDataIsThere() throws IOException {
    Files.createDirectories(folder.resolve("mnn").resolve("MobilenetV2"));

    Slice steps = published("--data", folder.toString(), "--only", "steps").slices().get(0);

    assertEquals(
        List.of(folder.resolve("mnn").resolve("MobilenetV2@4").toString()),
        steps.params().get("trace"));
  }

  @Test
  void shouldBeShortWhenItIsOnlySmoke() {
    Published smoke = published("--smoke");
    List<Slice> slices = smoke.slices();
    assertEquals(Slice.all(List.of()).size(), slices.size());
    assertTrue(slices.stream().mapToInt(Slice::settings).sum() <= 38);
    assertTrue(smoke.millis(slices) < 60_000);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "--what it",
        "--out",
        "--forks 0",
        "--forks many",
        "--rivals NOBODY",
        "--rivals ",
        "--only nothing"
      })
  void shouldRefuseWhenAnArgumentIsNonsense(String arguments) {
    String[] split = arguments.split(" ", -1);
    assertThrows(IllegalArgumentException.class, () -> published(split).slices());
    assertEquals(2, Main.run("published", List.of(split)));
  }

  @Test
  void shouldEndWithItsExitCodesWhenRunAsACommand() throws IOException {
    Path run = Files.createDirectory(folder.resolve("run"));
    assertEquals(2, Main.run("floors", List.of()));
    assertEquals(2, Main.run("floors", List.of(run.toString())));
    assertEquals(2, Main.run("nothing", List.of()));
    assertEquals(0, Main.run("--help", List.of()));
    assertEquals(0, Main.run("engine", List.of("--help")));
    Path results = run.resolve("all.json");
    FakeRun.published(rival -> 10).write(results);
    assertEquals(1, Main.run("floors", List.of(run.toString())), "nobody is faster");
    FakeRun.published(rival -> rival.isOurs() || rival.isYardstick() ? 1 : 1_000).write(results);
    assertEquals(0, Main.run("floors", List.of(run.toString())));
    assertEquals(0, Main.run("medians", List.of(run.toString())));
    assertEquals(2, Main.run("report", List.of(run.toString(), folder.toString())));
    assertFalse(Files.exists(folder.resolve("pair.svg")));
  }

  @Test
  void shouldTellTheMachineWhenAllIsDone() {
    Set<String> names = Machine.before().after().stringPropertyNames();
    assertTrue(
        names.containsAll(Set.of("CPU", "Commit", "Date", "JDK", "Load", "Memory", "System")),
        names::toString);
  }

  @Test
  void shouldTellTheCacheLinesJourneyWhenItWasMeasured() {
    assumeTrue(Runtime.getRuntime().availableProcessors() > 1, "one processor has no other");
    Machine machine = Machine.before();
    machine.measureCacheLine("handover");
    machine.measureCacheLine("handover");
    machine.measureCacheLine("steps-2");
    String told = machine.after().getProperty("Cache line's journey");
    assertTrue(told.matches("handover (\\d+ to )?\\d+ ns, steps-2 \\d+ ns"), told);
  }
}
