package io.prmalloc.trace.planning;

import io.prmalloc.Requests;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * What every strategy is told.
 *
 * <p>Threading: immutable.
 *
 * @param alignment what offsets are multiples of, a power of two from 1 to 2^30
 * @param timeout how long a strategy may take; empty if as long as it wants
 * @param capacity how many bytes there are; empty if nobody asked
 * @param orders what is for {@code heuristic} alone
 */
public record PlanOptions(
    long alignment, Optional<Duration> timeout, OptionalLong capacity, OrderOptions orders) {

  /**
   * With what {@code heuristic} does by default.
   *
   * <p>Threading: any thread.
   *
   * @throws IllegalArgumentException if a value is out of its bounds
   */
  public PlanOptions(long alignment, Optional<Duration> timeout, OptionalLong capacity) {
    this(alignment, timeout, capacity, OrderOptions.DEFAULT);
  }

  /**
   * Threading: any thread.
   *
   * @throws IllegalArgumentException if a value is out of its bounds
   */
  public PlanOptions {
    Requests.checkAlignment(alignment);
    if (timeout.isPresent() && (timeout.get().isNegative() || timeout.get().isZero())) {
      throw new IllegalArgumentException("timeout " + timeout.get() + " is not more than 0");
    }
    if (capacity.isPresent() && capacity.getAsLong() < 0) {
      throw new IllegalArgumentException(
          "capacity " + capacity.getAsLong() + " is negative; the least is 0");
    }
  }
}
