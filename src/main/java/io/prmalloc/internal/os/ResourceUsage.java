package io.prmalloc.internal.os;

/**
 * What the kernel has counted of a process or a thread since it started.
 *
 * <p>Threading: immutable.
 *
 * @param minorFaults page faults served without reading from disk, such as the first touch of fresh
 *     memory; 0 where the platform does not tell
 * @param majorFaults page faults that had to read from disk; 0 where the platform does not tell
 * @param peakResidentBytes the most bytes the process ever had in memory (also where the usage is a
 *     thread's, for memory has no thread); 0 where the platform does not tell
 */
public record ResourceUsage(long minorFaults, long majorFaults, long peakResidentBytes) {}
