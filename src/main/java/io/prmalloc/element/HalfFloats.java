package io.prmalloc.element;

/**
 * Numbers of 16 bits, which Java 17 does not support: IEEE 754 halves (1 bit of sign, 5 of
 * exponent, 10 of mantissa) and bfloat16 (1, 8 and 7: the upper half of a float). Both ways round
 * to the nearest, ties to even; what is not a number stays so, quietly.
 *
 * <p>Threading: stateless.
 */
final class HalfFloats {

  private static final int FLOAT_INFINITY = 0x7F80_0000;
  private static final int FLOAT_MAGNITUDE = 0x7FFF_FFFF;
  private static final int MANTISSA_SHIFT = 23 - 10;
  private static final int HALF_SIGN = 0x8000;
  private static final int HALF_INFINITY = 0x7C00;
  private static final int HALF_QUIET = 0x0200;

  /** The difference between the biases of both exponents, 127 and 15, in the place of a float's. */
  private static final int REBIAS = (127 - 15) << 23;

  /** 2^-14 as a float's bits: smaller halves have fewer bits, as multiples of 2^-24. */
  private static final int LEAST_NORMAL = REBIAS + (1 << 23);

  /** 2^16 as a float's bits: beyond all halves, however rounded. */
  private static final int TOO_LARGE = (127 + 16) << 23;

  private HalfFloats() {}

  static short toHalf(float value) {
    int bits = Float.floatToRawIntBits(value);
    int sign = bits >>> 16 & HALF_SIGN;
    int magnitude = bits & FLOAT_MAGNITUDE;
    int half;
    if (magnitude > FLOAT_INFINITY) {
      half = HALF_INFINITY | HALF_QUIET | (magnitude >>> MANTISSA_SHIFT & 0x3FF);
    } else if (magnitude >= TOO_LARGE) {
      half = HALF_INFINITY;
    } else if (magnitude >= LEAST_NORMAL) {
      // A carry out of the mantissa is just what the exponent needs, up to infinity.
      half = roundToEven(magnitude - REBIAS, MANTISSA_SHIFT);
    } else {
      half = (int) Math.rint(Math.abs((double) value) * 0x1p24);
    }
    return (short) (sign | half);
  }

  static float fromHalf(short half) {
    int magnitude = half & 0x7FFF;
    int sign = (half & HALF_SIGN) << 16;
    if (magnitude >= HALF_INFINITY) {
      return Float.intBitsToFloat(sign | FLOAT_INFINITY | (magnitude & 0x3FF) << MANTISSA_SHIFT);
    }
    if (magnitude < 0x400) {
      float value = magnitude * 0x1p-24f;
      return sign == 0 ? value : -value;
    }
    return Float.intBitsToFloat(sign | (magnitude << MANTISSA_SHIFT) + REBIAS);
  }

  static short toBfloat16(float value) {
    int bits = Float.floatToRawIntBits(value);
    if ((bits & FLOAT_MAGNITUDE) > FLOAT_INFINITY) {
      return (short) (bits >>> 16 | 0x40);
    }
    return (short) roundToEven(bits, 16);
  }

  static float fromBfloat16(short value) {
    return Float.intBitsToFloat(value << 16);
  }

  /** Drops the lowest bits; half of what they may hold, and an odd rest, is rounded up. */
  private static int roundToEven(int bits, int drop) {
    int justUnderHalf = (1 << (drop - 1)) - 1;
    int odd = (bits >>> drop) & 1;
    return (bits + justUnderHalf + odd) >>> drop;
  }
}
