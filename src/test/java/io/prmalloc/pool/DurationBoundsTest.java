package io.prmalloc.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.Allocation;
import io.prmalloc.AllocationAttributes;
import io.prmalloc.lifetime.ScopedMemoryCollector;
import io.prmalloc.plan.TensorUsageRecord;
import io.prmalloc.plan.exact.ExactOptions;
import io.prmalloc.plan.exact.ExactPlanner;
import io.prmalloc.plan.exact.PlanWatcher;
import io.prmalloc.plan.heuristic.OrderSearch;
import io.prmalloc.plan.heuristic.PlacementOrder;
import io.prmalloc.plan.heuristic.SearchOptions;
import io.prmalloc.plan.heuristic.SearchWatch;
import io.prmalloc.recording.Recording;
import io.prmalloc.recording.RecordingOptions;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Every setting that is a time, with times that are out of all proportion. */
class DurationBoundsTest {

  private static final List<Duration> LONG =
      List.of(
          Duration.ofSeconds(Long.MAX_VALUE, 999_999_999),
          Duration.ofSeconds(Long.MAX_VALUE),
          Duration.ofDays(200_000),
          Duration.ofNanos(Long.MAX_VALUE),
          Duration.ofNanos(1));

  private static final List<Duration> NEGATIVE =
      List.of(
          Duration.ofNanos(-1),
          Duration.ofNanos(Long.MIN_VALUE),
          Duration.ofSeconds(Long.MIN_VALUE));

  @TempDir private Path directory;

  private interface Use {
    void with(Duration time) throws Exception;
  }

  private static void assertRefused(String name, Duration time, Use use) {
    IllegalArgumentException e =
        assertThrows(IllegalArgumentException.class, () -> use.with(time), name + " " + time);
    assertTrue(e.getMessage().startsWith(name + " " + time + " is "), e::getMessage);
  }

  private static void check(String name, boolean mayBeZero, Use use) throws Exception {
    for (Duration time : NEGATIVE) {
      assertRefused(name, time, use);
    }
    if (mayBeZero) {
      use.with(Duration.ZERO);
    } else {
      assertRefused(name, Duration.ZERO, use);
    }
    for (Duration time : LONG) {
      use.with(time);
    }
  }

  private interface Setter {
    TensorPoolBuilder set(TensorPoolBuilder builder, Duration time);
  }

  private static void pool(String name, boolean mayBeZero, Setter setter) throws Exception {
    check(
        name,
        mayBeZero,
        time -> {
          TensorPoolBuilder builder = TensorPoolAllocator.builder();
          try (TensorPoolAllocator pool = setter.set(builder, time).build()) {
            for (int i = 0; i < 20; i++) {
              use(pool);
            }
            assertEquals(0, pool.leaks());
          }
        });
  }

  private static void use(TensorPoolAllocator pool) {
    try (ScopedMemoryCollector step = pool.collect();
        Allocation one = step.allocate(100_000);
        Allocation other = pool.allocate(5_000_000)) {
      assertEquals(5_100_000, one.sizeBytes() + other.sizeBytes());
    }
  }

  @Test
  void shouldTakeAnyTimeThatIsNotNegativeWhenAPoolIsBuilt() throws Exception {
    pool("shrinkAfter", true, TensorPoolBuilder::shrinkAfter);
    pool("stepArenaIdle", true, TensorPoolBuilder::stepArenaIdle);
    pool("stepPlanningTime", true, TensorPoolBuilder::stepPlanningTime);
    pool("purgeAfter", true, TensorPoolBuilder::purgeAfter);
    pool("trimAfterIdle", false, TensorPoolBuilder::trimAfterIdle);
    pool(
        "age",
        true,
        (builder, time) -> builder.leakDetection(LeakDetection.PARANOID.withAge(time)));
  }

  @Test
  void shouldTakeAnyTimeThatIsNotNegativeWhenStepsAreTrimmed() throws Exception {
    try (TensorPoolAllocator pool = TensorPoolAllocator.builder().build()) {
      check("idle", true, pool::trimSteps);
    }
  }

  @Test
  void shouldTakeAnyTimeThatIsNotNegativeWhenARecordingIsMade() throws Exception {
    try (TensorPoolAllocator pool = TensorPoolAllocator.builder().build()) {
      check(
          "longestWait",
          true,
          time -> {
            RecordingOptions options = RecordingOptions.DEFAULT.withLongestWait(time);
            Path file = Files.createTempDirectory(directory, "r").resolve("recording");
            try (Recording recording = pool.record(file, options)) {
              pool.allocate(1000).close();
              assertEquals(0, recording.unrecordedEvents());
            }
          });
    }
  }

  @Test
  void shouldTakeAnyTimeOverZeroWhenAPlanIsLookedFor() throws Exception {
    List<TensorUsageRecord> records =
        List.of(new TensorUsageRecord(0, 1, 64), new TensorUsageRecord(1, 2, 64));
    check(
        "timeout",
        false,
        time ->
            new ExactPlanner(ExactOptions.DEFAULTS.withTimeout(time))
                .minimize(records, 64, PlanWatcher.NONE));
    check(
        "time limit",
        false,
        time ->
            OrderSearch.assignOffsets(
                records,
                PlacementOrder.LIFE,
                64,
                new SearchOptions(SearchOptions.Kind.SWAPS, 1, time, 10),
                SearchWatch.NONE));
  }

  /** A request waits from now on; a time before now means one attempt. */
  @Test
  void shouldTakeAnyTimeWhenARequestWaits() {
    for (List<Duration> times : List.of(LONG, NEGATIVE, List.of(Duration.ZERO))) {
      for (Duration time : times) {
        AllocationAttributes waiting = AllocationAttributes.DEFAULT.withTimeout(time);
        try (TensorPoolAllocator pool = TensorPoolAllocator.builder().build();
            Allocation taken = pool.allocate(1000, 64, waiting)) {
          assertEquals(1000, taken.sizeBytes());
        }
      }
    }
  }
}
