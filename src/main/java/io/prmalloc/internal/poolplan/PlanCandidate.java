package io.prmalloc.internal.poolplan;

import io.prmalloc.kept.KeptPool;

/**
 * One of the plans that compete for the shared pool.
 *
 * <p>Threading: immutable.
 *
 * @param name its name in reports
 * @param pool the plan, and how many blocks each bin needs
 * @param bytes about how many bytes its arena has
 */
public record PlanCandidate(String name, KeptPool pool, long bytes) {}
