package io.prmalloc.trace.planning;

import io.prmalloc.internal.block.Requests;
import io.prmalloc.plan.exact.PlanWatcher;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The options of every strategy.
 *
 * <p>Threading: immutable.
 *
 * @param alignment what offsets are multiples of, a power of two from 1 to 2^30
 * @param timeout how long a strategy may take; empty if as long as it wants
 * @param capacity how many bytes there are; empty if not given
 * @param watcher sees the plans of a strategy that goes on improving them, and may stop it
 * @param orders what {@code heuristic} alone is told
 */
public record PlanOptions(
    long alignment,
    Optional<Duration> timeout,
    OptionalLong capacity,
    PlanWatcher watcher,
    OrderOptions orders) {

  /**
   * With what {@code heuristic} does by default.
   *
   * <p>Threading: any thread.
   *
   * @throws IllegalArgumentException if a value is out of its bounds
   */
  public PlanOptions(
      long alignment, Optional<Duration> timeout, OptionalLong capacity, PlanWatcher watcher) {
    this(alignment, timeout, capacity, watcher, OrderOptions.DEFAULT);
  }

  /**
   * Without a watcher.
   *
   * <p>Threading: any thread.
   *
   * @throws IllegalArgumentException if a value is out of its bounds
   */
  public PlanOptions(long alignment, Optional<Duration> timeout, OptionalLong capacity) {
    this(alignment, timeout, capacity, PlanWatcher.NONE);
  }

  /**
   * Threading: any thread.
   *
   * @throws IllegalArgumentException if a value is out of its bounds
   */
  public PlanOptions {
    Requests.checkAlignment(alignment);
    Objects.requireNonNull(watcher, "watcher");
    Objects.requireNonNull(orders, "orders");
    if (timeout.isPresent() && (timeout.get().isNegative() || timeout.get().isZero())) {
      throw new IllegalArgumentException("timeout " + timeout.get() + " is not more than 0");
    }
    if (capacity.isPresent() && capacity.getAsLong() < 0) {
      throw new IllegalArgumentException(
          "capacity " + capacity.getAsLong() + " is negative; the least is 0");
    }
  }

  /** The same with a time limit, unless there is one. Threading: any thread. */
  public PlanOptions withDefaultTimeout(Duration limit) {
    return timeout.isPresent()
        ? this
        : new PlanOptions(alignment, Optional.of(limit), capacity, watcher, orders);
  }
}
