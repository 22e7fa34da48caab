package io.prmalloc.jmh.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.jmh.FakeRun;
import io.prmalloc.jmh.report.Floors.Line;
import io.prmalloc.jmh.report.Floors.Verdict;
import io.prmalloc.jmh.rival.Rival;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FloorsTest {

  @TempDir Path folder;

  private List<Line> check(FakeRun run) throws IOException {
    return Floors.check(Measurements.read(List.of(run.write(folder.resolve("run.json")))));
  }

  private static ToDoubleFunction<Rival> rivals(double times) {
    return rival -> rival.isOurs() || rival.isYardstick() ? 10 : 10 * times;
  }

  private static Line line(List<Line> lines, String words) {
    List<Line> found = lines.stream().filter(line -> line.claim().contains(words)).toList();
    assertEquals(1, found.size(), () -> words + " in " + lines);
    return found.get(0);
  }

  @Test
  void shouldFindEverythingMeasuredWhenAllSlicesRan() throws IOException {
    List<Line> lines = check(FakeRun.published(rivals(1_000)));

    assertEquals(36, lines.size());
    for (Line line : lines) {
      assertEquals(Verdict.REACHED, line.verdict(), line::toString);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "Netty adaptive, 6",
    "Netty pooled, 10",
    "Arrow (unsafe), 10",
    "Arrow (netty), 10",
    "allocateDirect, 100"
  })
  void shouldTellReachedFromMissedWhenARivalIsNearTheFloor(String rival, double floor)
      throws IOException {
    Line reached = line(check(FakeRun.published(rivals(floor))), "faster than " + rival);
    Line missed = line(check(FakeRun.published(rivals(floor * 0.99))), "faster than " + rival);

    assertEquals(Verdict.REACHED, reached.verdict());
    assertEquals(floor, reached.measured().orElseThrow(), 1e-9);
    assertEquals(Verdict.MISSED, missed.verdict());
  }

  /** Only the two numbers of one promise. */
  private Line ratio(String words, FakeRun run) throws IOException {
    return line(check(run), words);
  }

  private static FakeRun pair(FakeRun run, Rival rival, int threads, double nanos) {
    return run.add("PairBenchmark", rival.name(), threads, Map.of("sizeBytes", "65536"), nanos);
  }

  private static FakeRun step(
      FakeRun run, Rival rival, String trace, String touch, int threads, double nanos) {
    return run.add(
        "StepBenchmark", rival.name(), threads, Map.of("trace", trace, "touch", touch), nanos);
  }

  @Test
  void shouldCompareThreadsWhenSeveralRan() throws IOException {
    FakeRun run = pair(new FakeRun(), Rival.POOL_HANDLE, 1, 10);
    pair(run, Rival.POOL_HANDLE, 2, 15.1);
    pair(run, Rival.POOL_HANDLE, 8, 60);

    Line two = ratio("64 KiB pair: 2 threads", run);
    assertEquals(1.51, two.measured().orElseThrow(), 1e-9);
    assertEquals(Verdict.MISSED, two.verdict());
    // 8 threads at 60 ns each are as many operations as 2 at 15.
    Line eight = ratio("throughput of 8 threads", run);
    assertEquals(15.1 / 15, eight.measured().orElseThrow(), 1e-9);
    assertEquals(Verdict.REACHED, eight.verdict());
  }

  @Test
  void shouldCompareEachWayOfServingWhenSizesVary() throws IOException {
    Map<String, String> any =
        Map.of(
            "traffic", "ANY", "trace", "Squeezenet@2", "other", "MobilenetV2@4", "touch", "FIRST");
    FakeRun run = new FakeRun();
    run.add("VaryingBenchmark", "POOL_NO_STEPS", 1, any, 111);
    run.add("VaryingBenchmark", "POOL_STEP_HANDLE", 1, any, 28);
    run.add("VaryingBenchmark", "MALLOC", 1, any, 112);
    run.add("VaryingBenchmark", "MIMALLOC", 1, any, 100);

    Line malloc = ratio("any factor, no plan: at most as long as malloc", run);
    assertEquals(Verdict.REACHED, malloc.verdict());
    Line mimalloc = ratio("any factor, no plan: at most 1.1 times", run);
    assertEquals(1.11, mimalloc.measured().orElseThrow(), 1e-9);
    assertEquals(Verdict.MISSED, mimalloc.verdict());
    Line planned = ratio("any factor, planned", run);
    assertEquals(0.25, planned.measured().orElseThrow(), 1e-9);
    assertEquals(Verdict.REACHED, planned.verdict());
    assertEquals(Verdict.NOT_MEASURED, ratio("16 factors, planned", run).verdict());
  }

  @Test
  void shouldTakeOffTheQueueWhenHandingOver() throws IOException {
    Map<String, String> size = Map.of("sizeBytes", "65536");
    FakeRun run = pair(new FakeRun(), Rival.POOL_HANDLE, 1, 10);
    run.add("HandoverBenchmark", "POOL_HANDLE", 2, size, 45);
    run.add("HandoverBenchmark", "READY_MEMORY", 2, size, 14);

    Line line = ratio("Producer to consumer: at most 3", run);
    assertEquals(3.1, line.measured().orElseThrow(), 1e-9);
    assertEquals(Verdict.MISSED, line.verdict());
    assertTrue(line.detail().endsWith("with the queue 4.50"), line.detail());
  }

  @Test
  void shouldScaleTheStepByTheYardstickWhenBothRan() throws IOException {
    // A machine half as fast as the one on which 20 us were promised.
    FakeRun run = pair(new FakeRun(), Rival.CAS_STACK, 1, 16.8);
    step(run, Rival.POOL_HANDLE, "/elsewhere/Squeezenet@2", "FIRST", 1, 40_000);
    step(run, Rival.POOL_HANDLE, "MobilenetV2@4", "FIRST", 1, 190_100);
    step(run, Rival.POOL_STEP, "Squeezenet@2", "FIRST", 1, 39_000);

    Line planned = ratio("Squeezenet b2: planned, 20 us", run);
    assertEquals(Verdict.REACHED, planned.verdict());
    assertEquals(planned.bound() * 39 / 40, planned.measured().orElseThrow(), 1e-9);
    Line squeezenet = ratio("Squeezenet b2: 20 us", run);
    assertEquals(squeezenet.bound(), squeezenet.measured().orElseThrow(), 1e-9);
    Line mobilenet = ratio("MobilenetV2 b4: 95 us", run);
    assertEquals(Verdict.MISSED, mobilenet.verdict());
  }

  @Test
  void shouldCompareWithMemoryThatWasThereWhenEveryByteIsWritten() throws IOException {
    FakeRun run = step(new FakeRun(), Rival.POOL_HANDLE, "Squeezenet@2", "ALL", 1, 36e6);
    step(run, Rival.READY_MEMORY, "Squeezenet@2", "ALL", 1, 30e6);

    Line line = ratio("every byte", run);
    assertEquals(1.2, line.measured().orElseThrow(), 1e-9);
    assertEquals(Verdict.MISSED, line.verdict());
  }

  @Test
  void shouldNotPassWhenSomethingWasNotMeasured() throws IOException {
    FakeRun run = pair(new FakeRun(), Rival.POOL_HANDLE, 1, 10);
    assertEquals(Verdict.NOT_MEASURED, ratio("faster than Netty adaptive", run).verdict());

    ByteArrayOutputStream said = new ByteArrayOutputStream();
    assertFalse(Report.of(folder).printFloors(new PrintStream(said, true, StandardCharsets.UTF_8)));
    String text = said.toString(StandardCharsets.UTF_8);
    assertTrue(text.endsWith("1 of 36 floors reached\n"), text);
  }
}
