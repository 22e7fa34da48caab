package io.prmalloc.trace.swap;

import io.prmalloc.trace.simulate.ModelKind;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * The options of swapping a step.
 *
 * <p>Threading: immutable.
 *
 * @param mode how transfers and computing share the time
 * @param allocator where memory comes from
 * @param outBytesPerSecond how fast the disk is written, from 1 to 1e18
 * @param inBytesPerSecond how fast it is read, from 1 to 1e18
 * @param forwardOps how many operators the forward pass has, from 1; empty if {@link ForwardPass}
 *     is to find out
 * @param budgetBytes what the peak must not pass, from 0; empty if everything is to be swapped
 * @param recompute whether a tensor may be computed again instead, where there is a budget
 */
public record SwapOptions(
    SwapMode mode,
    ModelKind allocator,
    double outBytesPerSecond,
    double inBytesPerSecond,
    OptionalInt forwardOps,
    OptionalLong budgetBytes,
    boolean recompute) {

  /** What a phone did: 104,094,472 bytes in 4.452 seconds. */
  public static final double DEFAULT_BYTES_PER_SECOND = 104_094_472 / 4.452;

  /** Within it, and from 1 on, no time of a transfer is infinite. */
  private static final double MAX_BYTES_PER_SECOND = 1e18;

  /**
   * Threading: any thread.
   *
   * @throws IllegalArgumentException if a number is out of its bounds, or tensors are to be
   *     computed again without a budget
   */
  public SwapOptions {
    checkRate("out", outBytesPerSecond);
    checkRate("in", inBytesPerSecond);
    if (forwardOps.isPresent() && forwardOps.getAsInt() < 1) {
      throw new IllegalArgumentException(
          "forward ops " + forwardOps.getAsInt() + " are less than 1");
    }
    if (budgetBytes.isPresent() && budgetBytes.getAsLong() < 0) {
      throw new IllegalArgumentException(
          "budget " + budgetBytes.getAsLong() + " is negative; the least is 0");
    }
    if (recompute && budgetBytes.isEmpty()) {
      throw new IllegalArgumentException("computing again is for a budget, and there is none");
    }
  }

  private static void checkRate(String which, double bytesPerSecond) {
    if (!(bytesPerSecond >= 1 && bytesPerSecond <= MAX_BYTES_PER_SECOND)) {
      throw new IllegalArgumentException(
          which + " rate " + bytesPerSecond + " is not from 1 to 1e18 bytes per second");
    }
  }

  double outMillis(long bytes) {
    return bytes * 1000.0 / outBytesPerSecond;
  }

  double inMillis(long bytes) {
    return bytes * 1000.0 / inBytesPerSecond;
  }
}
