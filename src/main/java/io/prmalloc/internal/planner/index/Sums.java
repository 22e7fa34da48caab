package io.prmalloc.internal.planner.index;

import io.prmalloc.internal.block.Requests;

/**
 * Adds sizes and says so where the sum does not fit.
 *
 * <p>Threading: any thread.
 */
public final class Sums {

  private Sums() {}

  /**
   * The sum of all sizes.
   *
   * @param what what has these sizes, for the message
   * @throws IllegalArgumentException if one is negative or the sum passes 2^63 − 1
   */
  public static long total(String what, long[] sizes) {
    long sum = 0;
    for (int i = 0; i < sizes.length; i++) {
      if (sizes[i] < 0) {
        throw new IllegalArgumentException(
            "size " + sizes[i] + " of " + what + " " + i + " is negative; the least is 0");
      }
      sum += sizes[i];
      if (sum < 0) {
        throw new IllegalArgumentException(
            "size "
                + sizes[i]
                + " of "
                + what
                + " "
                + i
                + " takes the sum of all sizes over 2^63 - 1");
      }
    }
    return sum;
  }

  /**
   * Threading: any thread.
   *
   * @throws IllegalArgumentException if the sum passes 2^63 − 1
   */
  public static long add(long offset, long bytes) {
    if (offset > Long.MAX_VALUE - bytes) {
      throw new IllegalArgumentException(
          "offset " + offset + " with " + bytes + " bytes behind it passes 2^63 - 1");
    }
    return offset + bytes;
  }

  /**
   * The least multiple of an alignment that is not less than {@code bytes}.
   *
   * @throws IllegalArgumentException if the alignment is not a power of two from 1 to 2^30, or the
   *     result passes 2^63 − 1
   */
  public static long align(long bytes, long alignment) {
    Requests.checkAlignment(alignment);
    return add(bytes, alignment - 1) & -alignment;
  }

  // Not Arrays.parallelPrefix: a thread of the common pool would outlive us, and the context that
  // it was made in keeps our class loader on JDK 17.

  /** Replaces each number by the sum of all up to it. No sum passes 2^63 − 1. */
  public static void accumulate(long[] numbers) {
    for (int i = 1; i < numbers.length; i++) {
      numbers[i] += numbers[i - 1];
    }
  }

  /** Replaces each number by the sum of all up to it. No sum passes 2^31 − 1. */
  public static void accumulate(int[] numbers) {
    for (int i = 1; i < numbers.length; i++) {
      numbers[i] += numbers[i - 1];
    }
  }
}
