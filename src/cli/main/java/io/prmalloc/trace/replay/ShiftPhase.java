package io.prmalloc.trace.replay;

import java.util.OptionalInt;

/**
 * How a pool served one kind of traffic, until that changed.
 *
 * <p>Threading: immutable.
 *
 * @param trace which step was run
 * @param steps how many steps each thread ran
 * @param stepsToHits after how many of them the hit rate was back at 99 %, over the 100 steps that
 *     followed or those that were left, at least 20; empty if it was not
 * @param requests what was asked for. Shared memory: requests over 32 KiB; planned steps: all
 * @param misses those of them that were not served from an arena
 * @param replans how often a plan gave way to another or was given up
 * @param departedSteps planned steps that did not go as planned
 * @param startBytes reserved when the traffic came
 * @param peakBytes the most that was reserved meanwhile
 * @param endBytes reserved in the end
 * @param freshBytes reserved by a new pool that learnt this trace alone
 */
public record ShiftPhase(
    String trace,
    int steps,
    OptionalInt stepsToHits,
    long requests,
    long misses,
    long replans,
    long departedSteps,
    long startBytes,
    long peakBytes,
    long endBytes,
    long freshBytes) {

  /** What is reserved in the end over what a new pool reserves. Threading: any thread. */
  public double ratio() {
    return (double) endBytes / Math.max(1, freshBytes);
  }
}
