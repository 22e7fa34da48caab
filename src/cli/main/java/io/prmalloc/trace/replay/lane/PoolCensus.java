package io.prmalloc.trace.replay.lane;

import io.prmalloc.trace.replay.ShiftPhase;

/**
 * The counters of a pool, and the bytes it has reserved.
 *
 * <p>Threading: immutable.
 *
 * @param requests as in {@link ShiftPhase}
 * @param misses as in {@link ShiftPhase}
 * @param replans plans that gave way
 * @param departedSteps planned steps that did not go as planned
 * @param reservedBytes what is reserved now
 * @param peakBytes the most since {@link PoolTarget#clearPeak}
 */
public record PoolCensus(
    long requests,
    long misses,
    long replans,
    long departedSteps,
    long reservedBytes,
    long peakBytes) {}
