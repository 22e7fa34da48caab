package io.prmalloc.trace.replay;

import java.util.Optional;

/**
 * The result of replaying a trace on one allocator: it was skipped, or it failed, or it was
 * measured. A run that was measured may have failed at its end, as where its plan is not written.
 *
 * <p>Threading: immutable.
 *
 * @param allocator which allocator
 * @param threads how many threads ran steps
 * @param steps measured steps of each thread
 * @param skipped why it was not tried to the end; empty if it was
 * @param failure what went wrong; empty if nothing did
 * @param measured the figures; empty if it was skipped or failed
 * @param cold the figures of a run that is measured from its first step on; empty for others
 */
public record ReplayRun(
    ReplayAllocator allocator,
    int threads,
    int steps,
    Optional<String> skipped,
    Optional<String> failure,
    Optional<Measured> measured,
    Optional<FromCold> cold) {

  /**
   * A run that was not tried to the end.
   *
   * <p>Threading: any thread.
   *
   * @param reason why, with the name of the allocator
   */
  public static ReplayRun skipped(ReplayAllocator allocator, ReplayOptions options, String reason) {
    return new ReplayRun(
        allocator,
        options.threads(),
        options.steps(),
        Optional.of(reason),
        Optional.empty(),
        Optional.empty(),
        Optional.empty());
  }

  /**
   * A run without figures.
   *
   * <p>Threading: any thread.
   *
   * @param reason what went wrong
   */
  public static ReplayRun failed(ReplayAllocator allocator, ReplayOptions options, String reason) {
    return new ReplayRun(
        allocator,
        options.threads(),
        options.steps(),
        Optional.empty(),
        Optional.of(reason),
        Optional.empty(),
        Optional.empty());
  }

  /** This, with what went wrong after it was measured; the first failure stays. */
  ReplayRun withFailure(Optional<String> later) {
    return new ReplayRun(
        allocator, threads, steps, skipped, failure.or(() -> later), measured, cold);
  }

  static ReplayRun measured(ReplayAllocator allocator, ReplayOptions options, Measured measured) {
    return new ReplayRun(
        allocator,
        options.threads(),
        options.steps(),
        Optional.empty(),
        Optional.empty(),
        Optional.of(measured),
        Optional.empty());
  }

  /** A run that was measured from its first step on, of so many steps. */
  static ReplayRun fromCold(
      ReplayAllocator allocator, int threads, int steps, Measured measured, FromCold cold) {
    return new ReplayRun(
        allocator,
        threads,
        steps,
        Optional.empty(),
        Optional.empty(),
        Optional.of(measured),
        Optional.of(cold));
  }

  /**
   * Times of steps in microseconds.
   *
   * <p>Threading: immutable.
   *
   * @param p50 half of the steps do not exceed it
   * @param p99 99 in 100 steps do not exceed it
   * @param max the longest step
   */
  public record Percentiles(double p50, double p99, double max) {}

  /**
   * What a run tells that is measured from its first step on.
   *
   * <p>Threading: immutable.
   *
   * @param firstHundred the first hundred steps of each thread, or all where there are fewer
   * @param steady the second half of the steps of each thread
   * @param startRssBytes what the process had in memory before the first step, Java heap and all; 0
   *     where the platform does not tell
   * @param endRssBytes the same after the last step, while all threads are there and nothing is out
   */
  public record FromCold(
      Percentiles firstHundred, Percentiles steady, long startRssBytes, long endRssBytes) {}

  /**
   * The figures of the measured steps. Writing to the tensors and checking them is included where
   * it was asked for.
   *
   * <p>Threading: immutable.
   *
   * @param p50Micros time of a step in microseconds that half of all steps do not exceed
   * @param p99Micros the same of 99 in 100 steps
   * @param maxMicros the longest step
   * @param nanosPerPair wall time of a thread's steps over the number of pairs of allocate and
   *     release in them, mean of all threads; 0 for a step without any
   * @param minorFaultsPerStep page faults without reading, mean of all steps
   * @param majorFaultsPerStep page faults that read from disk, mean of all steps
   * @param heapBytesPerStep bytes of Java heap that the threads allocated, mean of all steps
   * @param peakReservedBytes the most bytes the allocator reserved since it was made; for other
   *     libraries' allocators the load times the number of threads
   * @param peakRssBytes the most bytes the process had in memory since the allocator was made, Java
   *     heap and all; 0 where the platform does not tell
   * @param warmupSteps steps of one thread until the pool had learnt, the most of all threads; 0
   *     for an allocator that does not learn
   * @param pool what only the shared pool can tell
   * @param planned what only planned steps can tell
   */
  public record Measured(
      double p50Micros,
      double p99Micros,
      double maxMicros,
      double nanosPerPair,
      double minorFaultsPerStep,
      double majorFaultsPerStep,
      double heapBytesPerStep,
      long peakReservedBytes,
      long peakRssBytes,
      int warmupSteps,
      Optional<PoolCounts> pool,
      Optional<StepCounts> planned) {}

  /**
   * How the measured steps were planned.
   *
   * <p>Threading: immutable.
   *
   * @param plannedSteps steps that leased an arena, departed ones among them
   * @param departedSteps steps that did not go as planned
   * @param unplannedSteps steps that got no arena
   * @param arenas how many arenas there were at the end
   * @param arenaBytes bytes of all of them
   */
  public record StepCounts(
      long plannedSteps, long departedSteps, long unplannedSteps, int arenas, long arenaBytes) {}

  /**
   * How the pool served the measured steps.
   *
   * <p>Threading: immutable.
   *
   * @param pooling whether it had a plan; else all planned requests went outside, uncounted
   * @param hits planned requests served from the arena
   * @param misses planned requests whose bins were empty
   * @param nullBins planned requests of a size the plan has no bin for
   * @param policyIntervalBytes the step between size classes of the best policy; 0 without a plan
   * @param planBytes what the policy's blocks add up to; 0 without a plan
   * @param addedBlocks blocks added to the plan's by the rehearsal
   * @param arenaBytes bytes reserved for the plan; 0 without a plan
   */
  public record PoolCounts(
      boolean pooling,
      long hits,
      long misses,
      long nullBins,
      int policyIntervalBytes,
      long planBytes,
      int addedBlocks,
      long arenaBytes) {}
}
