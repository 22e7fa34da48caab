package io.prmalloc.internal.block;

import io.prmalloc.MemoryRegion;
import io.prmalloc.internal.os.MappedRegion;
import java.time.Duration;

/**
 * The argument checks of every request. For authors of allocators.
 *
 * <p>Threading: any thread.
 */
public final class Requests {

  /** The most bytes of one request: those of one mapping. */
  public static final long MAX_BYTES = MappedRegion.MAX_MAPPED_BYTES;

  /** What any longer time is taken for. */
  private static final Duration LONGEST = Duration.ofDays(36_525);

  private Requests() {}

  /**
   * Threading: any thread.
   *
   * @throws IllegalArgumentException if {@code bytes} is negative or over {@link #MAX_BYTES}
   */
  public static void checkBytes(long bytes) {
    if (bytes < 0 || bytes > MAX_BYTES) {
      throw badBytes(bytes);
    }
  }

  /**
   * Whether so many bytes, those of a header included, are more than one buffer has. They have a
   * mapping of their own, of which an address is the only way in.
   *
   * <p>Threading: any thread.
   */
  public static boolean isLarge(long totalBytes) {
    return totalBytes > MemoryRegion.MAX_BYTES;
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

  private static IllegalArgumentException badBytes(long bytes) {
    return new IllegalArgumentException(
        bytes < 0
            ? "bytes " + bytes + " is negative; the least is 0"
            : "bytes " + bytes + " exceeds " + MAX_BYTES + ", the most that can be addressed");
  }

  /**
   * A time, or a hundred years if it is longer: nobody waits as long, and more than three times as
   * many have no nanoseconds as a long.
   *
   * <p>Threading: any thread.
   *
   * @throws IllegalArgumentException if it is negative
   */
  public static Duration notNegative(String name, Duration time) {
    if (time.isNegative()) {
      throw new IllegalArgumentException(name + " " + time + " is negative; the least is 0");
    }
    return time.compareTo(LONGEST) > 0 ? LONGEST : time;
  }

  /**
   * As {@link #notNegative}, for a time that cannot be 0.
   *
   * <p>Threading: any thread.
   *
   * @throws IllegalArgumentException if it is not more than 0
   */
  public static Duration moreThanZero(String name, Duration time) {
    if (time.isNegative() || time.isZero()) {
      throw new IllegalArgumentException(name + " " + time + " is not more than 0");
    }
    return notNegative(name, time);
  }
}
