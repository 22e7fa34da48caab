package io.prmalloc.trace.replay;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.SharedData;
import io.prmalloc.trace.Trace;
import io.prmalloc.trace.TraceInput;
import io.prmalloc.trace.replay.lane.Memory;
import io.prmalloc.trace.replay.lane.PoolSetup;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** How much memory whole traces take, and that no request misses once they are planned. */
@Tag("jdk-independent")
class PlansOfTracesTest {

  // Nothing is touched and memory is mapped, so that gigabytes cost no time. A good plan is found
  // in half a second, for which the second of the default may be too short on a busy machine.
  private static final ReplayOptions OPTIONS =
      ReplayOptions.DEFAULT
          .withSteps(5)
          .withTouch(Touch.NONE)
          .withMemory(Memory.MMAP)
          .withPool(PoolSetup.DEFAULT.withPlanningTime(Duration.ofSeconds(10)));

  private static ReplayRun.Measured replay(Trace trace, ReplayAllocator allocator)
      throws InterruptedException {
    ReplayRun run = new Replayer(trace, OPTIONS, Duration.ZERO).run(allocator, null);
    assertTrue(run.measured().isPresent(), () -> run.toString());
    return run.measured().get();
  }

  private static void checkShared(Trace trace, double most) throws InterruptedException {
    ReplayRun.PoolCounts pool = replay(trace, ReplayAllocator.POOL).pool().orElseThrow();
    assertTrue(pool.hits() > 0);
    assertEquals(0, pool.misses());
    assertEquals(0, pool.nullBins());
    double ratio = (double) pool.arenaBytes() / trace.loadBytes();
    assertTrue(ratio <= most, trace.name() + ": " + ratio + " times the load");
  }

  private static void checkPlanned(Trace trace, double most) throws InterruptedException {
    ReplayRun.StepCounts steps = replay(trace, ReplayAllocator.PLANNED).planned().orElseThrow();
    assertTrue(steps.plannedSteps() >= OPTIONS.steps());
    assertEquals(0, steps.departedSteps());
    assertEquals(0, steps.unplannedSteps());
    assertEquals(1, steps.arenas());
    double ratio = (double) steps.arenaBytes() / trace.loadBytes();
    assertTrue(ratio <= most, trace.name() + ": " + ratio + " times the load");
  }

  @Test
  void shouldServeTheSample() throws InterruptedException {
    Trace sample = new TraceInput("sample:mobilenet", null, null).read();
    checkShared(sample, 1.04);
    // Mapped memory comes in whole pages.
    checkPlanned(sample, 1.0001);
  }

  @ParameterizedTest
  @CsvSource({"Squeezenet, 2, 1.5", "MobilenetV2, 4, 1.01"})
  void shouldServeFromOneSharedPool(String model, int batch, double most)
      throws InterruptedException {
    checkShared(
        new TraceInput(SharedData.path("mnn/" + model).toString(), null, batch).read(), most);
  }

  @ParameterizedTest
  @CsvSource({"Squeezenet, 2", "Squeezenet, 16", "MobilenetV2, 4", "MobilenetV2, 16"})
  void shouldServePlannedSteps(String model, int batch) throws InterruptedException {
    checkPlannedBatch(model, batch);
  }

  @Tag("long")
  @ParameterizedTest
  @CsvSource({"Squeezenet, 4", "Squeezenet, 8", "MobilenetV2, 2", "MobilenetV2, 8"})
  void shouldServePlannedStepsOfOtherBatches(String model, int batch) throws InterruptedException {
    checkPlannedBatch(model, batch);
  }

  private static void checkPlannedBatch(String model, int batch) throws InterruptedException {
    checkPlanned(
        new TraceInput(SharedData.path("mnn/" + model).toString(), null, batch).read(), 1.02);
  }
}
