package io.prmalloc.jmh.server;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.SplittableRandom;

/**
 * Bodies of any size: the first bytes of one random sequence, and the answer that a server gives
 * after reading them.
 *
 * <p>Threading: immutable.
 */
final class Bodies {

  /** A server looks at the first bytes of each so many: of each page of the system. */
  static final int LOOK_BYTES = 4096;

  private static final long SEED = 20_261_127;

  private final ByteBuffer bytes;

  /** By the number of looks: the sum of what they see. */
  private final long[] sums;

  /**
   * @param mostBytes of a body, from 8
   */
  Bodies(int mostBytes) {
    SplittableRandom random = new SplittableRandom(SEED);
    bytes = ByteBuffer.allocateDirect(mostBytes).order(ByteOrder.LITTLE_ENDIAN);
    while (bytes.remaining() >= Long.BYTES) {
      bytes.putLong(random.nextLong());
    }
    bytes.clear();
    sums = new long[looks(mostBytes) + 1];
    for (int look = 0; look < sums.length - 1; look++) {
      sums[look + 1] = sums[look] + bytes.getLong(look * LOOK_BYTES);
    }
  }

  /** How often a body is looked at: never where fewer than 8 bytes are left. */
  static int looks(int bytes) {
    return (bytes - Long.BYTES) / LOOK_BYTES + 1;
  }

  /** A body. */
  ByteBuffer body(int size) {
    return bytes.slice(0, size);
  }

  /** What a server answers that has it all. */
  long sum(int size) {
    return sums[looks(size)];
  }
}
