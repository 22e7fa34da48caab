package io.prmalloc.internal.lifecycle;

import java.time.Duration;

/**
 * The thresholds at which the shared pool's plan no longer fits the traffic. {@code
 * docs/planned-steps.md} explains how the numbers were chosen.
 *
 * <p>Threading: immutable.
 *
 * @param window after so many requests that found no block the rate of them is looked at, from 1
 * @param windows so many windows in a row must have been bad, from 1
 * @param percent in a bad window at least so many of 100 requests found no block, from 0
 * @param idle for so long a part of the arena must have been of no use; zero to look for none
 * @param spare the arena has a useless part if it is more than so many times as large as the blocks
 *     that were used, from 1
 * @param gain the pool has less to do than before, and a smaller plan takes over, if the one is
 *     more than so many times the other, from 1
 */
public record ReplanSettings(
    int window, int windows, int percent, Duration idle, double spare, double gain) {

  public static final ReplanSettings DEFAULTS =
      new ReplanSettings(128, 3, 2, Duration.ofSeconds(60), 1.25, 1.05);

  public ReplanSettings withIdle(Duration value) {
    return new ReplanSettings(window, windows, percent, value, spare, gain);
  }
}
