package io.prmalloc.tflite;

/**
 * The types of a tensor's elements: the schema's number, and bits of one element.
 *
 * <p>Threading: immutable.
 */
enum ElementType {
  FLOAT32(0, 32),
  FLOAT16(1, 16),
  INT32(2, 32),
  UINT8(3, 8),
  INT64(4, 64),
  /** Its size is known only when there is content. */
  STRING(5, 0),
  BOOL(6, 8),
  INT16(7, 16),
  COMPLEX64(8, 64),
  INT8(9, 8),
  FLOAT64(10, 64),
  COMPLEX128(11, 128),
  UINT64(12, 64),
  /** A handle on something the engine keeps. */
  RESOURCE(13, 0),
  /** As {@link #RESOURCE}. */
  VARIANT(14, 0),
  UINT32(15, 32),
  UINT16(16, 16),
  /** Two in a byte. */
  INT4(17, 4),
  BFLOAT16(18, 16);

  private final int number;
  private final int bits;

  ElementType(int number, int bits) {
    this.number = number;
    this.bits = bits;
  }

  /** The type of a number of the schema, or null. Threading: any thread. */
  static ElementType ofNumber(int number) {
    for (ElementType type : values()) {
      if (type.number == number) {
        return type;
      }
    }
    return null;
  }

  /** The schema's number. Threading: any thread. */
  int number() {
    return number;
  }

  /** Whether a shape says how many bytes there are. Threading: any thread. */
  boolean hasSize() {
    return bits > 0;
  }

  /**
   * Bytes of so many elements, the last one filled up. Threading: any thread.
   *
   * @param elements from 0 to 2^56
   */
  long bytes(long elements) {
    return (elements * bits + 7) / 8;
  }
}
