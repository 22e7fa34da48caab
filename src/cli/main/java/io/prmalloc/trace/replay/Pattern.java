package io.prmalloc.trace.replay;

import io.prmalloc.trace.replay.lane.Lane;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.agrona.UnsafeApi;

/**
 * What a replay writes into a tensor so that it can tell whether other code wrote there.
 *
 * <p>Word <i>i</i> of eight bytes, in native order, is {@code seed + i · STRIDE}; a rest of less
 * than a word is the beginning of the next word. The seed is mixed from thread, step and tensor,
 * and the stride is odd and irregular: neither another tensor's bytes nor the same tensor's of an
 * earlier step, at whatever distance, pass for the pattern, but for a chance of one in billions.
 *
 * <p>Threading: any thread, on memory that no other thread uses.
 */
public final class Pattern {

  private static final long STRIDE = 0x9E3779B97F4A7C15L;
  private static final boolean LITTLE_ENDIAN = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN;

  private Pattern() {}

  /** What is common to the seeds of a step of a thread. */
  static long stepSeed(int thread, long step) {
    return mix((((long) thread << 48) ^ step) + STRIDE);
  }

  /** The seed of a tensor. */
  static long seed(long stepSeed, int tensor) {
    return mix(stepSeed + tensor);
  }

  /** The finalizer of SplitMix64: every bit of the result depends on every bit of the value. */
  private static long mix(long value) {
    long mixed = (value ^ (value >>> 30)) * 0xBF58476D1CE4E5B9L;
    mixed = (mixed ^ (mixed >>> 27)) * 0x94D049BB133111EBL;
    return mixed ^ (mixed >>> 31);
  }

  /** The byte at an offset. */
  static byte byteAt(long seed, long offset) {
    long word = seed + (offset >>> 3) * STRIDE;
    int index = (int) (offset & 7);
    return (byte) (word >>> (8 * (LITTLE_ENDIAN ? index : 7 - index)));
  }

  public static void fill(long address, long bytes, long seed) {
    // An int counts: the JIT unrolls such loops, and tensors here have less than 2^31 bytes.
    int words = (int) (bytes >>> 3);
    long value = seed;
    for (int i = 0; i < words; i++) {
      UnsafeApi.putLong(address + ((long) i << 3), value);
      value += STRIDE;
    }
    for (long offset = (long) words << 3; offset < bytes; offset++) {
      UnsafeApi.putByte(address + offset, byteAt(seed, offset));
    }
  }

  /** Offset of the first byte that is not the pattern's, or −1. */
  public static long mismatch(long address, long bytes, long seed) {
    int words = (int) (bytes >>> 3);
    long value = seed;
    int same = 0;
    while (same < words && UnsafeApi.getLong(address + ((long) same << 3)) == value) {
      same++;
      value += STRIDE;
    }
    for (long offset = (long) same << 3; offset < bytes; offset++) {
      if (UnsafeApi.getByte(address + offset) != byteAt(seed, offset)) {
        return offset;
      }
    }
    return -1;
  }

  /** As {@link #fill(long, long, long)}, for a buffer in native order. */
  public static void fill(ByteBuffer buffer, long seed) {
    int words = buffer.limit() >>> 3;
    long value = seed;
    for (int i = 0; i < words; i++) {
      buffer.putLong(i << 3, value);
      value += STRIDE;
    }
    for (int offset = words << 3; offset < buffer.limit(); offset++) {
      buffer.put(offset, byteAt(seed, offset));
    }
  }

  /** As {@link #mismatch(long, long, long)}, for a buffer in native order. */
  public static long mismatch(ByteBuffer buffer, long seed) {
    int words = buffer.limit() >>> 3;
    long value = seed;
    int same = 0;
    while (same < words && buffer.getLong(same << 3) == value) {
      same++;
      value += STRIDE;
    }
    for (int offset = same << 3; offset < buffer.limit(); offset++) {
      if (buffer.get(offset) != byteAt(seed, offset)) {
        return offset;
      }
    }
    return -1;
  }

  /**
   * Checks every byte of a tensor.
   *
   * @throws ReplayFailure if one is not the pattern's; names the first
   */
  static void verify(Lane lane, int tensor, long bytes, long seed) {
    long offset = lane.mismatch(tensor, bytes, seed);
    if (offset >= 0) {
      throw new ReplayFailure(
          "the byte at offset "
              + offset
              + " is 0x"
              + hex(lane.byteAt(tensor, offset))
              + ", expected 0x"
              + hex(byteAt(seed, offset))
              + ": somebody else wrote there");
    }
  }

  private static String hex(byte value) {
    return Integer.toHexString((value & 0xff) | 0x100).substring(1);
  }
}
