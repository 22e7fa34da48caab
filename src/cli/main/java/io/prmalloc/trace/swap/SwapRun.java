package io.prmalloc.trace.swap;

/**
 * The result of a simulated step.
 *
 * <p>Threading: immutable.
 *
 * @param totalMillis how long the step took
 * @param computeMillis how long its operators computed, each once
 * @param recomputeMillis how long operators computed again
 * @param peakBytes the most the allocator held
 * @param bytesOut how much went to the disk
 * @param bytesIn how much came from it
 */
public record SwapRun(
    double totalMillis,
    double computeMillis,
    double recomputeMillis,
    long peakBytes,
    long bytesOut,
    long bytesIn) {

  /** How long nothing computed. Threading: any thread. */
  public double stallMillis() {
    // Sums of the same numbers in another order.
    return Math.max(0, totalMillis - computeMillis - recomputeMillis);
  }
}
