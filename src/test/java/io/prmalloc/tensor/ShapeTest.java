package io.prmalloc.tensor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.Arrays;
import org.junit.jupiter.api.Test;

class ShapeTest {

  private static String refusal(long... sizes) {
    return assertThrows(IllegalArgumentException.class, () -> Shape.of(sizes)).getMessage();
  }

  @Test
  void shouldCountRowMajorWhenThereAreDimensions() {
    Shape shape = Shape.of(2, 3, 4);
    assertEquals(3, shape.rank());
    assertEquals(24, shape.elementCount());
    assertEquals(12, shape.stride(0));
    assertEquals(4, shape.stride(1));
    assertEquals(1, shape.stride(2));
    assertEquals(3, shape.size(1));
    long element = 0;
    for (long i = 0; i < 2; i++) {
      for (long j = 0; j < 3; j++) {
        for (long k = 0; k < 4; k++) {
          assertEquals(element++, shape.elementAt(i, j, k));
        }
      }
    }
    assertEquals("[2, 3, 4]", shape.toString());
  }

  @Test
  void shouldHaveOneElementWhenThereAreNoDimensions() {
    assertEquals(1, Shape.scalar().elementCount());
    assertEquals(0, Shape.scalar().elementAt());
    assertEquals(Shape.of(), Shape.scalar());
    assertNotEquals(Shape.of(1), Shape.scalar());
  }

  @Test
  void shouldHaveNoElementsWhenASizeIsZero() {
    Shape shape = Shape.of(5, 0, 7);
    assertEquals(0, shape.elementCount());
    assertEquals(7, shape.stride(0));
    assertThrows(IndexOutOfBoundsException.class, () -> shape.elementAt(0, 0, 0));
  }

  @Test
  void shouldRefuseWhenSizesAreNegativeOrTooMany() {
    assertEquals("size -1 of dimension 1 is negative; the least is 0", refusal(2, -1, 2));
    assertEquals(
        "size -9223372036854775808 of dimension 0 is negative; the least is 0",
        refusal(Long.MIN_VALUE));
    long[] sizes = new long[255];
    Arrays.fill(sizes, 1);
    assertEquals("shape has 255 dimensions; the most is 254", refusal(sizes));
    assertEquals(254, Shape.of(Arrays.copyOf(sizes, 254)).rank());
  }

  @Test
  void shouldRefuseWhenTheProductOverflows() {
    assertEquals(Long.MAX_VALUE, Shape.of(Long.MAX_VALUE).elementCount());
    assertEquals(
        "shape [4294967296, 2147483648] has more than 2^63 - 1 elements",
        refusal(1L << 32, 1L << 31));
    refusal(Long.MAX_VALUE, Long.MAX_VALUE);
    // Its product is 2^64, which is 0 in 64 bits.
    refusal(1L << 32, 1L << 32);
    // No elements, and strides all the same.
    refusal(1L << 40, 1L << 40, 0);
    refusal(0, 1L << 40, 1L << 40);
  }

  @Test
  void shouldRefuseWhenIndicesAreWrong() {
    Shape shape = Shape.of(2, 3);
    assertEquals(
        "1 indices for a shape of 2 dimensions",
        assertThrows(IllegalArgumentException.class, () -> shape.elementAt(0)).getMessage());
    assertEquals(
        "index 3 of dimension 1 is not from 0 to 2",
        assertThrows(IndexOutOfBoundsException.class, () -> shape.elementAt(0, 3)).getMessage());
    assertThrows(IndexOutOfBoundsException.class, () -> shape.elementAt(-1, 0));
    assertThrows(IndexOutOfBoundsException.class, () -> shape.size(2));
    assertThrows(IndexOutOfBoundsException.class, () -> shape.stride(-1));
  }

  @Test
  void shouldKeepItsSizesWhenTheArrayChanges() {
    long[] sizes = {2, 3};
    Shape shape = Shape.of(sizes);
    sizes[0] = 9;
    assertEquals(Shape.of(2, 3), shape);
    assertEquals(Shape.of(2, 3).hashCode(), shape.hashCode());
    assertNotEquals(Shape.of(3, 2), shape);
  }
}
