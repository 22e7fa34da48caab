package io.prmalloc.internal.block;

import io.prmalloc.MemoryRegion;

/**
 * The checks every request goes through. For those who write allocators.
 *
 * <p>Threading: any thread.
 */
public final class Requests {

  private Requests() {}

  /**
   * Threading: any thread.
   *
   * @throws IllegalArgumentException if {@code bytes} is negative or over 2 GiB − 1
   */
  public static void checkBytes(long bytes) {
    if (bytes < 0 || bytes > MemoryRegion.MAX_BYTES) {
      throw badBytes(bytes);
    }
  }

  /**
   * Threading: any thread.
   *
   * @throws IllegalArgumentException if {@code alignment} is not a power of two from 1 to 2^30
   */
  public static void checkAlignment(long alignment) {
    if (alignment < 1 || alignment > 1 << 30 || (alignment & (alignment - 1)) != 0) {
      throw new IllegalArgumentException(
          "alignment " + alignment + " is not a power of two from 1 to " + (1 << 30));
    }
  }

  /**
   * Bytes of a block that holds a header and the user's bytes.
   *
   * <p>Threading: any thread.
   *
   * @throws IllegalArgumentException if {@code bytes} is negative, or the sum over 2 GiB − 1
   */
  public static long totalBytes(long bytes, long headerBytes) {
    checkBytes(bytes);
    long total = bytes + headerBytes;
    if (total > MemoryRegion.MAX_BYTES) {
      throw new IllegalArgumentException(
          "bytes "
              + bytes
              + " with a header of "
              + headerBytes
              + " exceed "
              + MemoryRegion.MAX_BYTES);
    }
    return total;
  }

  private static IllegalArgumentException badBytes(long bytes) {
    return new IllegalArgumentException(
        bytes < 0
            ? "bytes " + bytes + " is negative; the least is 0"
            : "bytes "
                + bytes
                + " exceeds "
                + MemoryRegion.MAX_BYTES
                + ", the most one buffer can hold");
  }
}
