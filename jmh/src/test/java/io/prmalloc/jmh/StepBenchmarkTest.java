package io.prmalloc.jmh;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.jmh.rival.Rival;
import io.prmalloc.jmh.rival.Rivals;
import io.prmalloc.trace.TraceFormatException;
import io.prmalloc.trace.TraceInput;
import io.prmalloc.trace.replay.Touch;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

class StepBenchmarkTest {

  @TempDir Path folder;

  private StepBenchmark benchmark(Rival rival, String events) throws IOException {
    Rivals.assumePresent(rival);
    StepBenchmark benchmark = new StepBenchmark();
    benchmark.rival = rival;
    benchmark.touch = Touch.FIRST;
    benchmark.trace = Files.writeString(folder.resolve("step.ev"), events).toString();
    return benchmark;
  }

  private static StepBenchmark.Worker worker(StepBenchmark benchmark) {
    StepBenchmark.Worker worker = new StepBenchmark.Worker();
    worker.open(benchmark);
    return worker;
  }

  @ParameterizedTest
  @EnumSource(mode = Mode.EXCLUDE, names = "CAS_STACK") // its blocks are smaller than some tensors
  void shouldRunTheSampleWhenNothingElseIsNamed(Rival rival) {
    Rivals.assumePresent(rival);
    StepBenchmark benchmark = new StepBenchmark();
    benchmark.rival = rival;
    benchmark.touch = Touch.FIRST;
    benchmark.trace = "sample:mobilenet";

    benchmark.open(1);
    StepBenchmark.Worker worker = worker(benchmark);
    long first = benchmark.step(worker);
    long second = benchmark.step(worker);
    benchmark.close();

    // A step writes its number and the tensor's: from one step to the next, one more per tensor.
    long tensors = second - first;
    assertEquals(tensors * (tensors - 1) / 2, first);
    assertTrue(tensors > 100, () -> tensors + " tensors");
  }

  @ParameterizedTest
  @EnumSource
  void shouldMakeRoomForTheTouchWhenATensorIsSmaller(Rival rival) throws IOException {
    StepBenchmark benchmark = benchmark(rival, "a x 0\na y 1\nf x 0\na z 100000\nf z 0\nf y 0\n");

    benchmark.open(1);
    assertEquals(0 + 1 + 2, benchmark.step(worker(benchmark)));
    benchmark.close();
  }

  @ParameterizedTest
  @EnumSource
  void shouldServeTwoThreadsWhenWarmedUpForTwo(Rival rival) throws IOException {
    StepBenchmark benchmark = benchmark(rival, "a x 65536\na y 70000\nf x 0\nf y 0\n");

    benchmark.open(2);
    StepBenchmark.Worker one = worker(benchmark);
    StepBenchmark.Worker two = worker(benchmark);
    assertEquals(1, benchmark.step(one));
    assertEquals(1, benchmark.step(two));
    benchmark.close();
  }

  @ParameterizedTest
  @EnumSource
  void shouldReadWhatItWroteWhenMoreIsTouched(Rival rival) throws IOException {
    for (Touch touch : Touch.values()) {
      StepBenchmark benchmark =
          benchmark(rival, "a x 20000\na y 4096\nf x 0\na z 8\nf z 0\nf y 0\n");
      benchmark.touch = touch;

      benchmark.open(1);
      assertEquals(0 + 1 + 2, benchmark.step(worker(benchmark)), touch::toString);
      benchmark.close();
    }
  }

  @Test
  void shouldTakeABatchWhenADirectoryIsNamedWithOne() {
    assertEquals(new TraceInput("some/model", null, 4), StepBenchmark.input("some/model@4"));
    assertEquals(new TraceInput("a@b.ev", null, null), StepBenchmark.input("a@b.ev"));
    assertEquals(new TraceInput("@4", null, null), StepBenchmark.input("@4"));
  }

  @Test
  void shouldRefuseWhenTheFileHoldsNoTrace() throws IOException {
    StepBenchmark benchmark = benchmark(Rival.MALLOC, "nonsense\n");

    assertThrows(TraceFormatException.class, () -> benchmark.open(1));
  }
}
