package io.prmalloc.element;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import java.util.function.IntFunction;
import org.junit.jupiter.api.Test;

class HalfFloatsTest {

  /** The value of a half by the definition of the format, and by no trick with bits. */
  private static double byDefinition(int bits, int exponentBits, int mantissaBits) {
    int mantissa = bits & ((1 << mantissaBits) - 1);
    int exponent = (bits >>> mantissaBits) & ((1 << exponentBits) - 1);
    int bias = (1 << (exponentBits - 1)) - 1;
    double sign = (bits & 0x8000) == 0 ? 1 : -1;
    double fraction = mantissa / (double) (1 << mantissaBits);
    if (exponent == (1 << exponentBits) - 1) {
      return mantissa == 0 ? sign * Double.POSITIVE_INFINITY : Double.NaN;
    }
    return exponent == 0
        ? sign * fraction * Math.pow(2, 1 - bias)
        : sign * (1 + fraction) * Math.pow(2, exponent - bias);
  }

  @Test
  void shouldReadByDefinitionAndWriteBackTheSameWhenEveryOneIsTried() {
    for (int bits = 0; bits <= 0xFFFF; bits++) {
      float half = HalfFloats.fromHalf((short) bits);
      assertEquals((float) byDefinition(bits, 5, 10), half, "half " + bits);
      float brain = HalfFloats.fromBfloat16((short) bits);
      assertEquals((float) byDefinition(bits, 8, 7), brain, "bfloat16 " + bits);
      if (Float.isNaN(half)) {
        assertTrue(Float.isNaN(HalfFloats.fromHalf(HalfFloats.toHalf(half))));
      } else {
        assertEquals((short) bits, HalfFloats.toHalf(half));
      }
      if (Float.isNaN(brain)) {
        assertTrue(Float.isNaN(HalfFloats.fromBfloat16(HalfFloats.toBfloat16(brain))));
      } else {
        assertEquals((short) bits, HalfFloats.toBfloat16(brain));
      }
    }
  }

  /** The nearest of all numbers of the format, the even one of two; found by looking. */
  private static short nearest(float value, int infinity, IntFunction<Double> valueOf) {
    int low = 0;
    int high = infinity;
    double magnitude = Math.abs((double) value);
    while (high - low > 1) {
      int middle = (low + high) >>> 1;
      if (valueOf.apply(middle) <= magnitude) {
        low = middle;
      } else {
        high = middle;
      }
    }
    // Infinity stands where the next number would be.
    double below = valueOf.apply(low);
    double step = below - valueOf.apply(low - 1 < 0 ? 1 : low - 1);
    double above = high == infinity ? below + Math.abs(step) : valueOf.apply(high);
    boolean up =
        magnitude - below > above - magnitude
            || (magnitude - below == above - magnitude && (high & 1) == 0);
    int sign = Float.floatToRawIntBits(value) < 0 ? 0x8000 : 0;
    return (short) (sign | (up ? high : low));
  }

  @Test
  void shouldRoundToTheNearestEvenWhenValuesAreRandom() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    for (int i = 0; i < 200_000; i++) {
      int bits = random.nextInt();
      if (i % 4 == 0) {
        // Ties, which chance hardly ever finds.
        bits = (bits & 0xFFFF_F000) | 0x1000;
      } else if (i % 4 == 1) {
        bits = (bits & 0xFFFF_0000) | 0x8000;
      } else if (i % 4 == 2) {
        // In the range of halves, and a little beyond on both sides.
        bits = (bits & 0x807F_FFFF) | ((100 + random.nextInt(45)) << 23);
      }
      float value = Float.intBitsToFloat(bits);
      if (Float.isFinite(value)) {
        String message = "seed " + seed + ", value " + value;
        assertEquals(
            nearest(value, 0x7C00, half -> byDefinition(half, 5, 10)),
            HalfFloats.toHalf(value),
            message);
        assertEquals(
            nearest(value, 0x7F80, half -> byDefinition(half, 8, 7)),
            HalfFloats.toBfloat16(value),
            message);
      }
    }
  }

  @Test
  void shouldKeepInfinityAndWhatIsNoNumber() {
    assertEquals(
        Float.NEGATIVE_INFINITY, HalfFloats.fromHalf(HalfFloats.toHalf(Float.NEGATIVE_INFINITY)));
    assertEquals(
        Float.POSITIVE_INFINITY,
        HalfFloats.fromBfloat16(HalfFloats.toBfloat16(Float.POSITIVE_INFINITY)));
    // One whose only set bits are those that get lost.
    float lowNan = Float.intBitsToFloat(0x7F80_0001);
    assertTrue(Float.isNaN(HalfFloats.fromHalf(HalfFloats.toHalf(lowNan))));
    assertTrue(Float.isNaN(HalfFloats.fromBfloat16(HalfFloats.toBfloat16(lowNan))));
  }
}
