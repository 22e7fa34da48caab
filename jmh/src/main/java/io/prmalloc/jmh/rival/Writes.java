package io.prmalloc.jmh.rival;

import io.prmalloc.trace.replay.Touch;
import org.agrona.UnsafeApi;

/**
 * What is written into a tensor, the same for every rival.
 *
 * <p>Threading: any thread, on memory that no other thread uses.
 */
public final class Writes {

  private static final int PAGE_BYTES = 4096;

  private Writes() {}

  /**
   * Writes as much as is asked for, the first 8 bytes last, and reads those back.
   *
   * @param bytes at least 8
   * @return what was read, {@code value}; the same with nothing touched
   */
  static long touch(Touch touch, long address, long bytes, long value) {
    switch (touch) {
      case NONE -> {
        return value;
      }
      case FIRST -> {}
      case PAGE -> {
        for (long offset = PAGE_BYTES; offset <= bytes - Long.BYTES; offset += PAGE_BYTES) {
          UnsafeApi.putLong(address + offset, value);
        }
      }
      case ALL -> UnsafeApi.setMemory(address, bytes, (byte) value);
    }
    return first(address, value);
  }

  // Compared before the release, and not returned after it: the JIT then has it in the stack in one
  // JVM of three, and that store right before a pool's compare-and-set is 1.7 ns of a pair's 10 on
  // some processors.

  /**
   * Compares what was read with what was written.
   *
   * @throws IllegalStateException if they differ
   */
  public static void checkRead(long seen, long written) {
    if (seen != written) {
      throw new IllegalStateException("read " + seen + " where " + written + " was written");
    }
  }

  static long first(long address, long value) {
    UnsafeApi.putLong(address, value);
    return UnsafeApi.getLong(address);
  }
}
