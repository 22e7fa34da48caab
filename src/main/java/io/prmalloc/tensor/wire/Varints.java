package io.prmalloc.tensor.wire;

import java.nio.ByteBuffer;

/**
 * Protobuf's numbers of one to ten bytes: seven bits in each, lowest first, and the top bit set in
 * all but the last. Protobuf's own reader wants a Java array.
 *
 * <p>Threading: stateless.
 */
final class Varints {

  /** What {@link #read} says where there is no number that is 0 or more. */
  static final long NONE = -1;

  private static final int MOST_BYTES = 10;

  private Varints() {}

  /** The number at a buffer's position, which moves past it; {@link #NONE} if there is none. */
  static long read(ByteBuffer buffer) {
    long value = 0;
    for (int i = 0; i < MOST_BYTES && buffer.hasRemaining(); i++) {
      byte next = buffer.get();
      value |= (next & 0x7FL) << (7 * i);
      if (next >= 0) {
        return Math.max(value, NONE);
      }
    }
    return NONE;
  }
}
