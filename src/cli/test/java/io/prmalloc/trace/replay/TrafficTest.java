package io.prmalloc.trace.replay;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.prmalloc.trace.Trace;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

class TrafficTest {

  private static final List<Trace> ONE = List.of(Trace.builder("t").allocate("x", 100).build());
  private static final Optional<FactorRange> RANGE = Optional.of(FactorRange.DEFAULT);

  private static void assertRefused(String message, Executable traffic) {
    assertEquals(message, assertThrows(IllegalArgumentException.class, traffic).getMessage());
  }

  @Test
  void shouldNameWhatIsOutOfItsBounds() {
    assertRefused("traces is empty; the least is 1", () -> Traffic.of(List.of(), RANGE, 0, 1));
    assertRefused(
        "weights [1.0, 2.0] are 2, inputs are 1",
        () -> new Traffic(ONE, List.of(1.0, 2.0), RANGE, 0, 1));
    assertRefused(
        "weight -1.0 is not from 0 to 1000000000",
        () -> new Traffic(ONE, List.of(-1.0), RANGE, 0, 1));
    assertRefused(
        "weight NaN is not from 0 to 1000000000",
        () -> new Traffic(ONE, List.of(Double.NaN), RANGE, 0, 1));
    assertRefused("weights [0.0] are all 0", () -> new Traffic(ONE, List.of(0.0), RANGE, 0, 1));
    assertRefused(
        "shapes 1000001 is not from 1 to 1000000, nor 0 for any factor",
        () -> Traffic.of(ONE, RANGE, 1_000_001, 1));
    assertRefused(
        "shapes 2 has no range of factors", () -> Traffic.of(ONE, Optional.empty(), 2, 1));
  }

  @Test
  void shouldDrawTheFactorsFromTheSeed() {
    double[] factors = Traffic.of(ONE, RANGE, 16, 5).factors();

    assertEquals(16, factors.length);
    assertArrayEquals(factors, Traffic.of(ONE, RANGE, 16, 5).factors());
    assertEquals(0, Traffic.of(ONE, RANGE, 0, 5).factors().length);
  }
}
