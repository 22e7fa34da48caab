package io.prmalloc.jmh;

import io.prmalloc.internal.os.OperatingSystem;
import java.util.List;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.profile.InternalProfiler;
import org.openjdk.jmh.results.AggregationPolicy;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.ScalarResult;

/**
 * Counts the minor page faults of an operation: {@code -prof io.prmalloc.jmh.FaultsProfiler}. The
 * count is that of the whole process, so it includes the faults of the JIT and the collector: some
 * hundred in an iteration. These are negligible if an iteration has many operations, and count if
 * it has only a few.
 *
 * <p>Threading: one thread.
 */
public final class FaultsProfiler implements InternalProfiler {

  /** What the result is called. */
  public static final String METRIC = "faults.norm";

  private long faultsBefore;

  @Override
  public String getDescription() {
    return "Minor page faults of the process, per operation";
  }

  @Override
  public void beforeIteration(BenchmarkParams benchmark, IterationParams iteration) {
    faultsBefore = OperatingSystem.processMinorFaults();
  }

  @Override
  public List<Result<?>> afterIteration(
      BenchmarkParams benchmark, IterationParams iteration, IterationResult result) {
    long faults = OperatingSystem.processMinorFaults() - faultsBefore;
    long operations = Math.max(1, result.getMetadata().getAllOps());
    return List.of(
        new ScalarResult(METRIC, (double) faults / operations, "faults/op", AggregationPolicy.AVG));
  }
}
