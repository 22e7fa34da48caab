package io.prmalloc.internal.jfr;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.Allocation;
import io.prmalloc.OutOfNativeMemoryException;
import io.prmalloc.SubAllocator;
import io.prmalloc.internal.os.ChildJvm;
import io.prmalloc.lifetime.ScopedMemoryCollector;
import io.prmalloc.pool.TensorPoolAllocator;
import io.prmalloc.pool.TensorPoolBuilder;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The events that Flight Recorder gets. */
class FlightEventsTest {

  private static final int MIB = 1 << 20;

  @TempDir private Path directory;

  @FunctionalInterface
  private interface Work {
    void run(TensorPoolAllocator pool) throws Exception;
  }

  private static TensorPoolBuilder builder() {
    return TensorPoolAllocator.builder()
        .executor(Runnable::run)
        .startStatisticStep(0)
        .stableStatisticStep(1)
        .maxOversize(1)
        .stepPlanningTime(Duration.ZERO);
  }

  private static void learn(TensorPoolAllocator pool) {
    while (!pool.isPooling()) {
      ScopedMemoryCollector step = pool.collect();
      pool.allocate(MIB).close();
      step.close();
    }
  }

  /** The events of ours that happen meanwhile. */
  private List<RecordedEvent> record(TensorPoolBuilder builder, String enabled, Work work)
      throws Exception {
    Path file = directory.resolve("events.jfr");
    try (Recording recording = new Recording();
        TensorPoolAllocator pool = builder.build()) {
      if (enabled != null) {
        recording.enable(enabled);
      }
      recording.start();
      work.run(pool);
      recording.stop();
      recording.dump(file);
    }
    return ours(file);
  }

  private static List<RecordedEvent> ours(Path file) throws IOException {
    return RecordingFile.readAllEvents(file).stream()
        .filter(event -> event.getEventType().getName().startsWith("io.prmalloc."))
        .toList();
  }

  private static String shortName(RecordedEvent event) {
    return event.getEventType().getName().substring("io.prmalloc.".length());
  }

  @Test
  void shouldRecordPlanAndSwitchOverWhenAPoolLearns() throws Exception {
    List<RecordedEvent> events = record(builder(), null, FlightEventsTest::learn);
    assertEquals(
        List.of("PlanMade", "SwitchOver"),
        events.stream().map(FlightEventsTest::shortName).toList());
    assertEquals("POOL", events.get(0).getString("kind"));
    assertEquals(MIB, events.get(0).getLong("bytes"));
    assertEquals(1, events.get(0).getInt("blocks"));
    assertEquals(MIB, events.get(1).getLong("arenaBytes"));
    assertTrue(events.get(1).getDuration("reserveTime").toNanos() > 0);
  }

  @Test
  void shouldRecordLearningThatFails() throws Exception {
    List<RecordedEvent> events =
        record(
            builder(),
            null,
            pool -> {
              ScopedMemoryCollector step = pool.collect();
              // Nothing so small is to be planned.
              pool.planner().trackFree(pool.planner().trackAllocate(64, 100));
              step.close();
            });
    assertEquals("LearningFailed", shortName(events.get(0)));
    assertEquals(1, events.get(0).getInt("failures"));
    assertTrue(events.get(0).getString("reason").contains("IllegalArgumentException"));
  }

  @Test
  void shouldRecordRunsOfAnEngineWhenSomebodyRecords() throws Exception {
    assertEquals(0, FlightEvents.engineRunStart());
    List<RecordedEvent> events =
        record(
            builder(),
            null,
            pool ->
                FlightEvents.engineRun(FlightEvents.engineRunStart(), "engine", 10, 20, 30, true));
    assertEquals(List.of("EngineRun"), events.stream().map(FlightEventsTest::shortName).toList());
    assertEquals("engine", events.get(0).getString("engine"));
    assertEquals(10, events.get(0).getLong("tensors"));
    assertEquals(20, events.get(0).getLong("weights"));
    assertEquals(30, events.get(0).getLong("overrunPeak"));
    assertTrue(events.get(0).getBoolean("refused"));
  }

  @Test
  void shouldRecordThePlanOfAStep() throws Exception {
    List<RecordedEvent> events =
        record(
            builder(),
            null,
            pool -> {
              while (pool.stepStats().plannedSteps() == 0) {
                try (ScopedMemoryCollector step = pool.collect()) {
                  step.allocate(100_000).close();
                }
              }
            });
    RecordedEvent made = events.get(0);
    assertEquals("PlanMade STEP", shortName(made) + " " + made.getString("kind"));
    assertEquals(1, made.getInt("blocks"));
    assertTrue(made.getLong("bytes") >= 100_000);
  }

  @Test
  void shouldRecordRequestsThatFindNoBlockAndNoneThatDo() throws Exception {
    List<RecordedEvent> events =
        record(
            builder(),
            null,
            pool -> {
              learn(pool);
              pool.allocate(100).close();
              Allocation hit = pool.allocate(MIB);
              pool.allocate(MIB).close();
              pool.allocate(2 * MIB).close();
              hit.close();
            });
    List<RecordedEvent> unserved =
        events.stream().filter(event -> shortName(event).equals("UnservedRequest")).toList();
    assertEquals(
        List.of(MIB + " true", 2 * MIB + " false"),
        unserved.stream()
            .map(event -> event.getLong("bytes") + " " + event.getBoolean("known"))
            .toList());
    assertNotNull(unserved.get(0).getStackTrace());
  }

  @Test
  void shouldRecordAllocationsOutsideThePoolOnlyWhenAskedTo() throws Exception {
    Work work =
        pool -> {
          pool.allocate(100, 1 << 16).close();
          learn(pool);
          pool.allocate(MIB).close();
          pool.allocate(3 * MIB).close();
        };
    assertFalse(
        record(builder(), null, work).stream()
            .anyMatch(event -> shortName(event).equals("OutsideAllocation")));

    List<RecordedEvent> outside =
        record(builder(), "io.prmalloc.OutsideAllocation", work).stream()
            .filter(event -> shortName(event).equals("OutsideAllocation"))
            .toList();

    assertEquals(100, outside.get(0).getLong("bytes"));
    assertEquals(1 << 16, outside.get(0).getLong("alignment"));
    assertTrue(outside.get(0).getDuration("systemTime").toNanos() > 0);
    assertNotNull(outside.get(0).getStackTrace());
    List<Long> last =
        outside.subList(outside.size() - 2, outside.size()).stream()
            .map(event -> event.getLong("bytes"))
            .toList();
    assertEquals(List.of((long) MIB, 3L * MIB), last);
  }

  @Test
  void shouldRecordLimitsThatAreHit() throws Exception {
    List<RecordedEvent> events =
        record(
            builder()
                .subAllocator(SubAllocator.direct(1_000_000))
                .softLimit(500_000, (reserved, limit) -> {}),
            null,
            pool -> {
              Allocation most = pool.allocate(600_000);
              assertThrows(OutOfNativeMemoryException.class, () -> pool.allocate(400_001));
              most.close();
            });
    assertEquals(
        List.of("SOFT 606208 606208 500000", "HARD 409600 606208 1000000"),
        events.stream()
            .map(
                event ->
                    event.getString("kind")
                        + " "
                        + event.getLong("requestedBytes")
                        + " "
                        + event.getLong("reservedBytes")
                        + " "
                        + event.getLong("limitBytes"))
            .toList());
  }

  @ParameterizedTest
  @ValueSource(strings = {"-Dnobody=records", "-XX:StartFlightRecording:dumponexit=false"})
  void shouldHaveAllTypesWhenAPoolIsBuiltBeforeAnyEvent(String flag) throws Exception {
    ChildJvm.Result result = new ChildJvm(directory).flags(flag).run(EventTypesMain.class);
    assertTrue(
        result
            .output()
            .endsWith(
                "io.prmalloc.EngineRun io.prmalloc.LeakFound io.prmalloc.LearningFailed"
                    + " io.prmalloc.LimitHit io.prmalloc.OutsideAllocation io.prmalloc.PlanMade"
                    + " io.prmalloc.SwitchOver io.prmalloc.UnservedRequest"),
        result.output() + result.errors());
  }
}
