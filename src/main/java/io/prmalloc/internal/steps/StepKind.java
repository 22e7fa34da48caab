package io.prmalloc.internal.steps;

import io.prmalloc.pool.StepStats;

/**
 * One kind of steps, for a report.
 *
 * <p>Threading: immutable.
 *
 * @param key what the user gave, or null
 * @param firstBytes size of the first request
 * @param phase where its planning stands
 * @param stats how its steps were served
 */
public record StepKind(Object key, long firstBytes, String phase, StepStats stats) {}
