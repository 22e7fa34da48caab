package io.prmalloc.onnxruntime;

/**
 * What an engine took through an {@link OrtEnvironmentAllocator} so far.
 *
 * @param tensorBytes in use by tensors between operators, as asked for
 * @param tensors how many those are
 * @param weightBytes in use by weights: what was asked for while sessions were made
 * @param overrunBytes in use beyond the pool's limit
 * @param overrunPeakBytes the most of those at a time
 * @param overruns requests that the pool refused
 * @param requests of all kinds
 */
public record EngineStats(
    long tensorBytes,
    long tensors,
    long weightBytes,
    long overrunBytes,
    long overrunPeakBytes,
    long overruns,
    long requests) {}
