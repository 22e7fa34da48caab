package io.prmalloc.trace.replay;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.trace.Trace;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ReplayReportTest {

  private static final Trace TRACE = Trace.builder("t").allocate("x", 100).build();
  private static final ReplayOptions OPTIONS = ReplayOptions.DEFAULT.withSteps(10).withThreads(2);

  private static final ReplayRun POOL =
      ReplayRun.measured(
          ReplayAllocator.POOL,
          OPTIONS,
          new ReplayRun.Measured(
              1.5,
              20.0004,
              300.25,
              12.3456,
              0,
              0.1,
              0,
              2L << 20,
              3L << 20,
              17,
              Optional.of(new ReplayRun.PoolCounts(true, 20, 1, 2, 8192, 40960, 3, 53248)),
              Optional.empty()));

  private static final ReplayRun MALLOC =
      ReplayRun.measured(
          ReplayAllocator.MALLOC,
          OPTIONS,
          new ReplayRun.Measured(1, 2, 3, 4, 5, 6, 7, 8, 9, 0, Optional.empty(), Optional.empty()));

  private static final ReplayRun SKIPPED =
      ReplayRun.skipped(ReplayAllocator.JEMALLOC, OPTIONS, "jemalloc cannot be loaded: why");

  private static final ReplayRun FAILED =
      ReplayRun.failed(ReplayAllocator.CPU, OPTIONS, "thread 0, step 1, \"quoted\"");

  @Test
  void shouldWriteTheContractsKeysWhenAskedForJson() {
    ReplayReport report =
        new ReplayReport("in.ev", TRACE, OPTIONS, List.of(POOL, MALLOC, SKIPPED, FAILED));

    assertEquals(
        "{\"input\":\"in.ev\",\"eventsPerStep\":2,\"lowerBoundBytes\":128,\"loadBytes\":100,"
            + "\"touch\":\"first\",\"api\":\"raw\",\"memory\":\"direct\",\"runs\":["
            + "{\"allocator\":\"pool\",\"threads\":2,\"steps\":10,"
            + "\"microsPerStep\":{\"p50\":1.500,\"p99\":20.000,\"max\":300.250},"
            + "\"nanosPerPair\":12.346,\"minorFaultsPerStep\":0.000,\"majorFaultsPerStep\":0.100,"
            + "\"heapBytesPerStep\":0.000,\"peakReservedBytes\":2097152,\"peakRssBytes\":3145728,"
            + "\"hits\":20,\"misses\":1,\"nullBins\":2,\"policyIntervalBytes\":8192,"
            + "\"warmupSteps\":17,\"pooling\":true,\"planBytes\":40960,\"addedBlocks\":3,"
            + "\"arenaBytes\":53248},"
            + "{\"allocator\":\"malloc\",\"threads\":2,\"steps\":10,"
            + "\"microsPerStep\":{\"p50\":1.000,\"p99\":2.000,\"max\":3.000},"
            + "\"nanosPerPair\":4.000,\"minorFaultsPerStep\":5.000,\"majorFaultsPerStep\":6.000,"
            + "\"heapBytesPerStep\":7.000,\"peakReservedBytes\":8,\"peakRssBytes\":9,"
            + "\"hits\":null,\"misses\":null,\"nullBins\":null,\"policyIntervalBytes\":null,"
            + "\"warmupSteps\":0},"
            + "{\"allocator\":\"jemalloc\",\"threads\":2,\"steps\":10,"
            + "\"skipped\":\"jemalloc cannot be loaded: why\"},"
            + "{\"allocator\":\"cpu\",\"threads\":2,\"steps\":10,"
            + "\"failed\":\"thread 0, step 1, \\\"quoted\\\"\"}]}",
        report.json());
  }

  @Test
  void shouldAlignTheFiguresWhenAskedForText() {
    ReplayReport report = new ReplayReport("in.ev", TRACE, OPTIONS, List.of(POOL, MALLOC, SKIPPED));

    assertEquals(
        """
        in.ev: 1 tensor a step, at least 128 bytes at a time
        threads 2, steps 10, touch first, api raw, memory direct

        allocator  p50 us/step   p99    max  ns/pair  minor faults  major  heap bytes  reserved MiB  RSS MiB
        pool               1.5  20.0  300.3     12.3           0.0    0.1         0.0           2.0      3.0
        malloc             1.0   2.0    3.0      4.0           5.0    6.0         7.0           0.0      0.0
        jemalloc       skipped

        pool: planned after 17 steps with classes of 8 KiB: 40960 bytes, 320.000 times the least, and 3 blocks added
        hits 20, misses 1, null bins 2

        skipped: jemalloc cannot be loaded: why
        """,
        report.text());
  }

  @Test
  void shouldNameTheAllocatorWhenARunFailed() {
    assertEquals(
        List.of("cpu: thread 0, step 1, \"quoted\""),
        new ReplayReport("in.ev", TRACE, OPTIONS, List.of(POOL, FAILED)).failures());
    assertEquals(List.of(), new ReplayReport("in.ev", TRACE, OPTIONS, List.of(POOL)).failures());
  }

  @Test
  void shouldTellWhatBecameOfPlannedSteps() {
    ReplayRun run =
        ReplayRun.measured(
            ReplayAllocator.PLANNED,
            OPTIONS,
            new ReplayRun.Measured(
                1,
                2,
                3,
                4,
                5,
                6,
                7,
                8,
                9,
                3,
                Optional.empty(),
                Optional.of(new ReplayRun.StepCounts(18, 1, 2, 3, 330))));
    ReplayReport report = new ReplayReport("in.ev", TRACE, OPTIONS, List.of(run));
    assertTrue(report.json().contains("{\"allocator\":\"pool\",\"planned\":true,"));
    assertTrue(
        report
            .json()
            .endsWith(
                "\"plannedSteps\":18,\"departedSteps\":1,\"unplannedSteps\":2,"
                    + "\"arenas\":3,\"arenaBytes\":330}]}"));
    assertTrue(
        report
            .text()
            .contains("after 3 steps 3 arenas of 330 bytes together, 1.1000 times the least each"));
  }
}
