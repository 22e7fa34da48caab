package io.prmalloc.jmh;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.jmh.rival.Rival;
import io.prmalloc.jmh.rival.Rivals;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ThreadBenchmarksTest {

  @Test
  void shouldHaveEachSizeEquallyOftenWhenShuffled() {
    long[] sizes = MixedBenchmark.shuffledSizes();
    long[] sorted = Arrays.stream(sizes).sorted().toArray();

    assertEquals(33 * 32, sizes.length);
    assertEquals(33, Arrays.stream(sizes).distinct().count());
    assertEquals(4 << 10, sorted[0]);
    assertEquals(5 << 10, sorted[32]);
    assertEquals(1 << 20, sorted[sorted.length - 1]);
    assertArrayEquals(sizes, MixedBenchmark.shuffledSizes());
  }

  @ParameterizedTest
  @EnumSource
  void shouldGoRoundTheListWhenSizesAreMixed(Rival rival) {
    Rivals.assumePresent(rival);
    MixedBenchmark benchmark = new MixedBenchmark();
    benchmark.rival = rival;
    benchmark.open(1);
    MixedBenchmark.Place place = new MixedBenchmark.Place();
    // The last of many threads begins near the end of the list.
    place.spread(benchmark, 99, 100);
    for (int pair = 0; pair < 1_100; pair++) {
      assertEquals(pair, benchmark.pair(place));
    }
    benchmark.close();
  }

  @ParameterizedTest
  @EnumSource(names = {"POOL_HANDLE", "POOL_RAW", "NETTY_POOLED", "NETTY_ADAPTIVE", "READY_MEMORY"})
  void shouldServeAllRequestsWhenThreadsAreVirtual(Rival rival) throws Exception {
    for (VirtualThreadBenchmark.Kind kind : VirtualThreadBenchmark.Kind.values()) {
      VirtualThreadBenchmark benchmark = new VirtualThreadBenchmark();
      benchmark.rival = rival;
      benchmark.sizeBytes = 1 << 16;
      benchmark.kind = kind;
      if (kind == VirtualThreadBenchmark.Kind.VIRTUAL
          && !VirtualThreadBenchmark.virtualThreadsArePresent()) {
        IllegalStateException failure = assertThrows(IllegalStateException.class, benchmark::open);
        assertTrue(failure.getMessage().contains("needs JDK 21"), failure.getMessage());
        benchmark.close();
        continue;
      }
      benchmark.open();
      long each = (long) VirtualThreadBenchmark.ROUNDS * (99 * 100 / 2);
      assertEquals(VirtualThreadBenchmark.REQUESTS * each, benchmark.requests());
      benchmark.close();
    }
  }
}
