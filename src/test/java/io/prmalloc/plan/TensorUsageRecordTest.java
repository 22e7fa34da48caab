package io.prmalloc.plan;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TensorUsageRecordTest {

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "-1|0|0|size -1 is negative; the least is 0",
        "1|-2|0|first task -2 is negative; the least is 0",
        "1|5|4|first task 5 is after last 4",
        "1|0|9223372036854775807|last task 9223372036854775807 is not less than 2^63 - 1",
      })
  void shouldRefuseWhenANumberIsOutOfItsBounds(long size, long first, long last, String complaint) {
    IllegalArgumentException e =
        assertThrows(
            IllegalArgumentException.class, () -> new TensorUsageRecord(size, first, last));

    assertEquals(complaint, e.getMessage());
  }

  @Test
  void shouldOverlapWhenATaskIsShared() {
    TensorUsageRecord record = new TensorUsageRecord(1, 3, 5);

    assertTrue(record.overlaps(new TensorUsageRecord(1, 5, 9)));
    assertTrue(record.overlaps(new TensorUsageRecord(1, 0, 3)));
    assertTrue(record.overlaps(new TensorUsageRecord(1, 4, 4)));
    assertFalse(record.overlaps(new TensorUsageRecord(1, 6, 9)));
    assertFalse(record.overlaps(new TensorUsageRecord(1, 0, 2)));
  }

  @Test
  void shouldCompareShapesByDimensionWhenAskedForCover() {
    assertTrue(TensorShape.of(2L, 8L).covers(TensorShape.of(2L, 8L)));
    assertFalse(TensorShape.of(2L, 8L).covers(TensorShape.of(3L, 1L)));
    assertFalse(TensorShape.of(2L, 8L).covers(TensorShape.of(1L, 1L, 1L)));
    assertEquals("2x0x4", TensorShape.of(2L, 0L, 4L).toString());
    assertEquals(0, TensorShape.of(Long.MAX_VALUE, Long.MAX_VALUE, 0L).elementCount());
    assertEquals(120, TensorShape.of(2L, 3L, 4L, 5L).elementCount());
  }

  @ParameterizedTest
  @CsvSource({
    "7,a shape has 1 dimensions; it needs 2 to 4",
    "1x1x1x1x1,a shape has 5 dimensions; it needs 2 to 4",
    "3x-1,dimension -1 is negative; the least is 0",
    "4611686018427387904x2,shape 4611686018427387904x2 has more than 2^63 - 1 elements",
  })
  void shouldRefuseWhenAShapeCannotBe(String shape, String complaint) {
    Long[] dimensions = Arrays.stream(shape.split("x", -1)).map(Long::valueOf).toArray(Long[]::new);

    IllegalArgumentException e =
        assertThrows(IllegalArgumentException.class, () -> TensorShape.of(dimensions));

    assertEquals(complaint, e.getMessage());
  }
}
