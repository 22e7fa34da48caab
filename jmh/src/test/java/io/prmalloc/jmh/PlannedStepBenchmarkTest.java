package io.prmalloc.jmh;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PlannedStepBenchmarkTest {

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void shouldServeEveryPair(boolean planned) {
    PlannedStepBenchmark benchmark = new PlannedStepBenchmark();
    benchmark.sizeBytes = 1 << 16;
    benchmark.planned = planned;
    benchmark.open();
    assertEquals(999 * 1000 / 2, benchmark.pairs());
    benchmark.close();
  }
}
