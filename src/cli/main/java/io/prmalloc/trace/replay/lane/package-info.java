/**
 * The allocators under test of a replay: a {@code ReplayTarget} for each, and a {@code Lane} for
 * each thread that replays on it.
 *
 * <p>Read {@code ReplayTarget} and {@code Lane} first, then {@code PoolTarget}.
 *
 * <p>May use: {@code io.prmalloc.trace.replay} (its options), the allocators.
 */
package io.prmalloc.trace.replay.lane;
