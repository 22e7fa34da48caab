package io.prmalloc.jmh;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.prmalloc.jmh.rival.Rival;
import io.prmalloc.jmh.rival.Rivals;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class PairBenchmarkTest {

  @ParameterizedTest
  @EnumSource
  void shouldReadWhatItWroteWhenRunOnce(Rival rival) {
    Rivals.assumePresent(rival);
    PairBenchmark benchmark = new PairBenchmark();
    benchmark.rival = rival;
    benchmark.sizeBytes = 1 << 20;
    PairBenchmark.Values values = new PairBenchmark.Values();

    benchmark.open(1);
    assertEquals(0, benchmark.pair(values));
    assertEquals(1, benchmark.pair(values));
    benchmark.close();
  }

  @ParameterizedTest
  @EnumSource(names = {"JEMALLOC", "MIMALLOC", "FFM_CONFINED", "FFM_SHARED"})
  void shouldSayWhyWhenARivalIsNotToBeHad(Rival rival) {
    if (rival.missing().isPresent()) {
      IllegalStateException failure = assertThrows(IllegalStateException.class, rival::open);
      assertEquals(rival + " is skipped: " + rival.missing().orElseThrow(), failure.getMessage());
    } else {
      rival.open().close();
    }
  }
}
