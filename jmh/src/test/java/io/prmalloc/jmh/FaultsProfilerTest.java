package io.prmalloc.jmh;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.prmalloc.internal.os.OperatingSystem;
import java.util.List;
import org.agrona.UnsafeApi;
import org.junit.jupiter.api.Test;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.IterationResultMetaData;
import org.openjdk.jmh.results.Result;

class FaultsProfilerTest {

  private static final int PAGES = 20_000;
  private static final int OPERATIONS = 10;

  @Test
  void shouldCountThePagesForEachOperationWhenMemoryIsFresh() {
    assumeTrue(OperatingSystem.processMinorFaults() > 0, "page faults are not told here");
    FaultsProfiler profiler = new FaultsProfiler();
    profiler.beforeIteration(null, null);
    long bytes = (long) PAGES * OperatingSystem.pageSizeBytes();
    long address = UnsafeApi.allocateMemory(bytes);
    UnsafeApi.setMemory(address, bytes, (byte) 1);
    UnsafeApi.freeMemory(address);
    List<Result<?>> results =
        profiler.afterIteration(
            null,
            null,
            new IterationResult(null, null, new IterationResultMetaData(OPERATIONS, OPERATIONS)));

    assertEquals(FaultsProfiler.METRIC, results.get(0).getLabel());
    double faults = results.get(0).getScore();
    double most = 2.0 * PAGES / OPERATIONS;
    // Huge pages need fewer faults, and whoever else runs in this process has some too.
    assertTrue(faults > 0 && faults < most, () -> faults + " faults");
  }
}
