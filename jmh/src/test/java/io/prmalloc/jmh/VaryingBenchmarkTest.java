package io.prmalloc.jmh;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.jmh.VaryingBenchmark.Traffic;
import io.prmalloc.jmh.rival.Rival;
import io.prmalloc.jmh.rival.Rivals;
import io.prmalloc.jmh.rival.Step;
import io.prmalloc.trace.replay.Touch;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

class VaryingBenchmarkTest {

  private static final int STEPS = 40;

  @TempDir Path folder;

  private VaryingBenchmark benchmark(Rival rival, Traffic traffic) throws IOException {
    Rivals.assumePresent(rival);
    VaryingBenchmark benchmark = new VaryingBenchmark();
    benchmark.rival = rival;
    benchmark.traffic = traffic;
    benchmark.touch = Touch.PAGE;
    benchmark.trace =
        Files.writeString(
                folder.resolve("one.ev"), "a x 90000\na y 1\nf x 0\na z 70000\nf z 0\nf y 0\n")
            .toString();
    benchmark.other =
        Files.writeString(folder.resolve("other.ev"), "a x 100000\nf x 0\n").toString();
    return benchmark;
  }

  private static VaryingBenchmark.Worker worker(VaryingBenchmark benchmark, int thread) {
    VaryingBenchmark.Worker worker = new VaryingBenchmark.Worker();
    worker.open(benchmark, thread);
    return worker;
  }

  @ParameterizedTest
  @EnumSource(mode = Mode.EXCLUDE, names = "CAS_STACK") // its blocks are smaller than some tensors
  void shouldReadWhatItWroteWhenSizesVary(Rival rival) throws IOException {
    for (Traffic traffic : List.of(Traffic.ANY, Traffic.SIXTEEN)) {
      VaryingBenchmark benchmark = benchmark(rival, traffic);
      benchmark.open();
      VaryingBenchmark.Worker one = worker(benchmark, 0);
      VaryingBenchmark.Worker two = worker(benchmark, 1);
      for (long step = 0; step < STEPS; step++) {
        assertEquals(3 * step + 3, benchmark.step(one));
        assertEquals(3 * step + 3, benchmark.step(two));
      }
      benchmark.close();
    }
  }

  @ParameterizedTest
  @EnumSource(mode = Mode.EXCLUDE, names = "CAS_STACK")
  void shouldRunBothModelsWhenThereAreTwo(Rival rival) throws IOException {
    VaryingBenchmark benchmark = benchmark(rival, Traffic.TWO_MODELS);
    benchmark.open();
    VaryingBenchmark.Worker worker = worker(benchmark, 0);
    Set<Long> sums = new HashSet<>();
    for (long step = 0; step < STEPS; step++) {
      long sum = benchmark.step(worker);
      boolean isOther = sum == step && step > 0;
      assertTrue(isOther || sum == 3 * step + 3, () -> sum + " is neither's");
      sums.add(isOther ? 1L : 3L);
    }
    benchmark.close();
    assertEquals(Set.of(1L, 3L), sums);
  }

  @ParameterizedTest
  @EnumSource(mode = Mode.EXCLUDE, names = "CAS_STACK")
  void shouldServeBuffersWhenThereAreNoSteps(Rival rival) throws IOException {
    VaryingBenchmark benchmark = benchmark(rival, Traffic.BUFFERS);
    if (rival.asksTheStep()) {
      IllegalStateException refused = assertThrows(IllegalStateException.class, benchmark::open);
      assertEquals(rival + " is skipped: buffers belong to no step", refused.getMessage());
      return;
    }
    benchmark.open();
    VaryingBenchmark.Worker worker = worker(benchmark, 0);
    long buffers = VaryingBenchmark.BUFFERS_OF_AN_OPERATION;
    for (long step = 0; step < 3; step++) {
      assertEquals(buffers * step + buffers * (buffers - 1) / 2, benchmark.step(worker));
    }
    benchmark.close();
  }

  @Test
  void shouldServeWithoutAPlanWhenThePoolKnowsOfNoSteps() throws IOException {
    VaryingBenchmark benchmark = benchmark(Rival.POOL_NO_STEPS, Traffic.ANY);
    benchmark.open();
    VaryingBenchmark.Worker worker = worker(benchmark, 0);
    for (int step = 0; step < STEPS; step++) {
      benchmark.step(worker);
    }
    String report = benchmark.strategy.report().orElseThrow();
    benchmark.close();

    assertTrue(report.matches("pool: no plan; [1-9][0-9]* requests larger .*"), report);
  }

  @Test
  void shouldScaleACopyAloneWhenSizesVary() {
    Step original = Step.ofPairs(1_000, 10);
    Step copy = original.copy();
    copy.scale(original, 0.5);
    assertEquals(List.of(500L, 8L), sizes(copy));
    copy.scale(original, 1);
    assertEquals(List.of(1_000L, 10L), sizes(copy));
    assertEquals(List.of(1_000L, 10L), sizes(original));
  }

  @Test
  void shouldKeepNoMoreThan64AliveWhenBuffersAreMade() {
    Step buffers = Step.ofBuffers(1_000);
    int[] alive = new int[1];
    int[] most = new int[1];
    buffers.forEach(
        (buffer, bytes) -> {
          most[0] = Math.max(most[0], ++alive[0]);
          assertTrue(bytes >= 1 << 10 && bytes <= 1 << 20, () -> bytes + " bytes");
        },
        (buffer, bytes) -> alive[0]--);
    assertEquals(0, alive[0]);
    assertEquals(64, most[0]);
    assertEquals(1_000, buffers.tensors());
    assertNotEquals(sizes(buffers).get(0), sizes(buffers).get(1));
  }

  private static List<Long> sizes(Step step) {
    List<Long> sizes = new ArrayList<>();
    step.forEach((tensor, bytes) -> sizes.add(bytes), (tensor, bytes) -> {});
    return sizes;
  }
}
