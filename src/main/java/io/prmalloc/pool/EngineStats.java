package io.prmalloc.pool;

/**
 * The memory that a native engine holds, from a pool and outside of it.
 *
 * <p>Threading: immutable; not an atomic snapshot.
 *
 * @param engine its name
 * @param tensorBytes of the pool in use by tensors between the engine's operators, as asked for
 * @param tensors how many those are
 * @param weightBytes beside the pool in use by weights
 * @param overrunBytes in use beyond the pool's limit, as asked for; of large requests of runs that
 *     are ended, there is less memory behind them
 * @param overrunPeakBytes the most of those at a time
 * @param overruns requests that the pool refused
 * @param requests of all kinds
 */
public record EngineStats(
    String engine,
    long tensorBytes,
    long tensors,
    long weightBytes,
    long overrunBytes,
    long overrunPeakBytes,
    long overruns,
    long requests) {}
