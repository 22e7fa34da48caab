package io.prmalloc.onnx;

/**
 * The types of a tensor's elements: the format's number, and bits of one element.
 *
 * <p>Threading: immutable.
 */
enum OnnxType {
  FLOAT(1, 32),
  UINT8(2, 8),
  INT8(3, 8),
  UINT16(4, 16),
  INT16(5, 16),
  INT32(6, 32),
  INT64(7, 64),
  /** Its size depends on its content. */
  STRING(8, 0),
  BOOL(9, 8),
  FLOAT16(10, 16),
  DOUBLE(11, 64),
  UINT32(12, 32),
  UINT64(13, 64),
  COMPLEX64(14, 64),
  COMPLEX128(15, 128),
  BFLOAT16(16, 16),
  FLOAT8E4M3FN(17, 8),
  FLOAT8E4M3FNUZ(18, 8),
  FLOAT8E5M2(19, 8),
  FLOAT8E5M2FNUZ(20, 8),
  /** Two in a byte. */
  UINT4(21, 4),
  /** Two in a byte. */
  INT4(22, 4),
  /** Two in a byte. */
  FLOAT4E2M1(23, 4),
  FLOAT8E8M0(24, 8),
  /** Four in a byte. */
  UINT2(25, 2),
  /** Four in a byte. */
  INT2(26, 2);

  private final int number;
  private final int bits;

  OnnxType(int number, int bits) {
    this.number = number;
    this.bits = bits;
  }

  /** The type of a number of the format, or null. Threading: any thread. */
  static OnnxType ofNumber(long number) {
    for (OnnxType type : values()) {
      if (type.number == number) {
        return type;
      }
    }
    return null;
  }

  /** The format's number. Threading: any thread. */
  int number() {
    return number;
  }

  /** Whether a shape says how many bytes there are. Threading: any thread. */
  boolean hasSize() {
    return bits > 0;
  }

  /** Whether it is a whole number, so that a quotient has no fraction. Threading: any thread. */
  boolean isWhole() {
    return switch (this) {
      case UINT8, INT8, UINT16, INT16, INT32, INT64, UINT32, UINT64 -> true;
      default -> false;
    };
  }

  /**
   * Bytes of so many elements, the last one filled up. Threading: any thread.
   *
   * @param elements from 0 to 2^44
   */
  long bytes(long elements) {
    return (elements * bits + 7) / 8;
  }
}
