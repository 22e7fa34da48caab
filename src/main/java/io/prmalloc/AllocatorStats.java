package io.prmalloc;

import java.util.OptionalLong;

/**
 * The figures of an allocator: bytes in use and reserved, now and at most, of one moment if nothing
 * changes meanwhile.
 *
 * <p>Modelled on TensorFlow's {@code AllocatorStats}.
 *
 * <p>Threading: immutable.
 *
 * @param numAllocs allocations since the start or the last clearing
 * @param bytesInUse bytes asked for and not yet given back
 * @param peakBytesInUse the most bytes in use so far; an allocator that does not count on every
 *     call may state a bound that lies above, never below
 * @param largestAllocSize the largest single request in bytes, 0 before the first
 * @param bytesLimit the most bytes the allocator may reserve, empty if there is no limit
 * @param bytesReserved bytes taken from the system now, in use or not
 * @param peakBytesReserved the most bytes reserved so far
 */
public record AllocatorStats(
    long numAllocs,
    long bytesInUse,
    long peakBytesInUse,
    long largestAllocSize,
    OptionalLong bytesLimit,
    long bytesReserved,
    long peakBytesReserved) {}
