package io.prmalloc.trace.replay;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FactorRangeTest {

  @Test
  void shouldReadTwoNumbersOrOne() {
    assertEquals(new FactorRange(0.25, 1), FactorRange.parse("0.25..1"));
    assertEquals(new FactorRange(0, 1e6), FactorRange.parse("0..1000000"));
    assertEquals(new FactorRange(0.5, 0.5), FactorRange.parse("0.5"));
    assertEquals("0.25..1.0", FactorRange.DEFAULT.toString());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "x|`x` is not A..B with numbers from 0 to 1000000",
        "1..|`1..` is not A..B with numbers from 0 to 1000000",
        "1-2|`1-2` is not A..B with numbers from 0 to 1000000",
        "-1..1|factors -1.0..1.0 are not all from 0 to 1000000",
        "0..1000001|factors 0.0..1000001.0 are not all from 0 to 1000000",
        "NaN..1|factors NaN..1.0 are not all from 0 to 1000000",
        "1..NaN|factors 1.0..NaN are not all from 0 to 1000000",
        "2..1|factors 2.0..1.0: the first exceeds the second"
      })
  void shouldNameTheFactorsAndTheirBounds(String text, String message) {
    IllegalArgumentException refused =
        assertThrows(IllegalArgumentException.class, () -> FactorRange.parse(text));

    assertEquals(message, refused.getMessage());
  }
}
