package io.prmalloc.jmh.engine;

/**
 * What the process of an arm tells the one that started it.
 *
 * <p>Threading: immutable.
 *
 * @param endMebibytes in memory after the last run, above what it was before the first
 * @param peakMebibytes the most at any time between the two, above the same
 * @param cpuMicros processor time of the process for a run
 * @param p50Millis the time that half of the runs did not exceed
 * @param p99Millis the time that 99 of 100 runs did not exceed
 * @param faults minor page faults for a run
 * @param callPairs allocations that came to Java, for a run
 * @param digest of all outputs of every shape
 * @param runsThatDiffer from the first run of their shape, in their outputs
 * @param engine its version
 */
record Measured(
    double endMebibytes,
    double peakMebibytes,
    double cpuMicros,
    double p50Millis,
    double p99Millis,
    double faults,
    double callPairs,
    long digest,
    int runsThatDiffer,
    String engine) {}
