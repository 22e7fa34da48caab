package io.prmalloc.probe;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * The pattern of {@code probe.h}, implemented again in Java: a row of 64-bit words in native byte
 * order, word <i>i</i> being the <i>i</i>-th output of SplitMix64 started with the seed.
 *
 * <p>Threading: stateless.
 */
final class Pattern {

  // Byte buffers are read and written in whatever order they are in. That is on purpose: if it were
  // not the native one, the other side would see other words.

  private Pattern() {}

  private static long word(long seed, long index) {
    long z = seed + (index + 1) * 0x9E3779B97F4A7C15L;
    z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
  }

  /** The bytes of the last word, which may be cut off. */
  private static ByteBuffer tail(ByteBuffer like, long seed, int words) {
    return ByteBuffer.allocate(Long.BYTES).order(like.order()).putLong(0, word(seed, words));
  }

  /** Writes the pattern from position 0 to the limit. */
  static void fill(ByteBuffer buffer, long seed) {
    int words = buffer.limit() / Long.BYTES;
    for (int i = 0; i < words; i++) {
      buffer.putLong(i * Long.BYTES, word(seed, i));
    }
    buffer.put(
        words * Long.BYTES, tail(buffer, seed, words).array(), 0, buffer.limit() % Long.BYTES);
  }

  /** Offset of the first byte that is not the pattern's, -1 if all are. */
  static int firstDifference(ByteBuffer buffer, long seed) {
    int words = buffer.limit() / Long.BYTES;
    for (int i = 0; i < words; i++) {
      if (buffer.getLong(i * Long.BYTES) != word(seed, i)) {
        return i * Long.BYTES;
      }
    }
    int rest = buffer.limit() % Long.BYTES;
    int same =
        buffer.slice(words * Long.BYTES, rest).mismatch(tail(buffer, seed, words).limit(rest));
    return same < 0 ? -1 : words * Long.BYTES + same;
  }

  /** Writes the pattern into all of an Agrona buffer. */
  static void fill(MutableDirectBuffer buffer, long seed) {
    int words = buffer.capacity() / Long.BYTES;
    for (int i = 0; i < words; i++) {
      buffer.putLong(i * Long.BYTES, word(seed, i));
    }
    byte[] tail = nativeTail(seed, words);
    buffer.putBytes(words * Long.BYTES, tail, 0, buffer.capacity() % Long.BYTES);
  }

  /** Offset of the first byte that is not the pattern's, -1 if all are. */
  static int firstDifference(DirectBuffer buffer, long seed) {
    int words = buffer.capacity() / Long.BYTES;
    for (int i = 0; i < words; i++) {
      if (buffer.getLong(i * Long.BYTES) != word(seed, i)) {
        return i * Long.BYTES;
      }
    }
    byte[] tail = nativeTail(seed, words);
    for (int i = words * Long.BYTES; i < buffer.capacity(); i++) {
      if (buffer.getByte(i) != tail[i % Long.BYTES]) {
        return i;
      }
    }
    return -1;
  }

  private static byte[] nativeTail(long seed, int words) {
    ByteBuffer nativeOrder = ByteBuffer.allocate(0).order(ByteOrder.nativeOrder());
    return tail(nativeOrder, seed, words).array();
  }
}
