package io.prmalloc.leak;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.Allocation;
import io.prmalloc.lifetime.ScopedMemoryCollector;
import io.prmalloc.pool.Leak;
import io.prmalloc.pool.LeakDetection;
import io.prmalloc.pool.TensorPoolAllocator;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Leak detection. In a package of its own, since the stack of an allocation begins at the first
 * frame outside the library's packages.
 */
class LeakDetectionTest {

  private final List<Leak> leaks = new ArrayList<>();
  private final List<String> logged = new ArrayList<>();
  private final Logger logger = Logger.getLogger("io.prmalloc.leak");

  private final Handler handler =
      new Handler() {
        @Override
        public void publish(LogRecord line) {
          logged.add(line.getMessage());
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
      };

  private TensorPoolAllocator pool;

  @BeforeEach
  void listen() {
    logger.setUseParentHandlers(false);
    logger.addHandler(handler);
  }

  @AfterEach
  void close() {
    pool.closeForcibly();
    logger.removeHandler(handler);
    logger.setUseParentHandlers(true);
  }

  private void open(LeakDetection detection) {
    pool = TensorPoolAllocator.builder().leakDetection(detection).leakListener(leaks::add).build();
  }

  private void runEmptySteps(int steps) {
    for (int i = 0; i < steps; i++) {
      pool.collect().close();
    }
  }

  private Allocation forget(long bytes) {
    return pool.allocate(bytes);
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 100, 40_000, 5_000_000})
  void shouldReportOnceWithTheStackWhenSoManyStepsHaveEnded(long bytes) {
    open(LeakDetection.PARANOID.withSteps(3));
    runEmptySteps(5);
    try (ScopedMemoryCollector step = pool.collect()) {
      pool.allocate(bytes).close();
      forget(bytes);
      assertTrue(step != null);
    }
    runEmptySteps(2);
    assertEquals(List.of(), leaks, "the third is still to come");
    runEmptySteps(1);

    assertEquals(1, leaks.size());
    Leak leak = leaks.get(0);
    assertEquals(bytes, leak.sizeBytes());
    assertEquals(64, leak.alignment());
    assertEquals(5, leak.step());
    assertEquals(Thread.currentThread().getName(), leak.thread());
    assertEquals(Leak.Reason.STEP_ENDED, leak.reason());
    assertEquals("forget", leak.stack().get(0).getMethodName());
    assertEquals(1, logged.size());
    assertTrue(logged.get(0).contains("LeakDetectionTest.forget"), logged.get(0));
    runEmptySteps(10);
    assertEquals(1, pool.leaks(), "once");
  }

  @Test
  void shouldReportNothingWhenMemoryComesBackInTime() {
    open(LeakDetection.PARANOID.withSteps(2));
    Allocation weights = pool.allocate(40_000);
    for (int i = 0; i < 20; i++) {
      Allocation late;
      try (ScopedMemoryCollector step = pool.collect()) {
        late = pool.allocate(100);
        long address = pool.allocateRaw(64, 1000);
        step.deallocateRaw(address);
      }
      runEmptySteps(1);
      late.close();
    }
    weights.close();
    pool.close();

    assertEquals(List.of(), leaks);
    assertEquals(0, pool.leaks());
  }

  @Test
  void shouldReportWhatIsTooOldWhenAsked() {
    open(LeakDetection.PARANOID.withAge(Duration.ZERO));
    Allocation old = forget(100);

    assertEquals(1, pool.leaks());
    assertEquals(Leak.Reason.OLD, leaks.get(0).reason());
    assertEquals(-1, leaks.get(0).step());
    old.close();
    assertEquals(1, pool.leaks());
  }

  @Test
  void shouldReportNothingOldWhenItIsYoung() {
    open(LeakDetection.PARANOID.withAge(Duration.ofDays(1)));
    forget(100);
    runEmptySteps(3);
    assertEquals(0, pool.leaks());
  }

  @Test
  void shouldReportWhatIsOutWhenThePoolIsToBeClosed() {
    open(LeakDetection.PARANOID);
    forget(100);
    pool.deallocateRaw(pool.allocateRaw(64, 200));
    pool.allocateRaw(256, 40_000);

    assertThrows(IllegalStateException.class, pool::close);
    assertEquals(List.of(100L, 40_000L), leaks.stream().map(Leak::sizeBytes).toList());
    assertEquals(256, leaks.get(1).alignment());
    assertEquals(Leak.Reason.POOL_CLOSED, leaks.get(0).reason());
    pool.closeForcibly();
    assertEquals(2, leaks.size(), "once");
  }

  @Test
  void shouldWatchExactlyOneOfSoManyWhenItSamples() {
    open(LeakDetection.SIMPLE.withInterval(10));
    for (int i = 1; i <= 95; i++) {
      forget(i);
    }
    pool.closeForcibly();

    assertEquals(
        List.of(10L, 20L, 30L, 40L, 50L, 60L, 70L, 80L, 90L),
        leaks.stream().map(Leak::sizeBytes).toList());
  }

  @Test
  void shouldWatchNothingWhenItIsOff() {
    open(LeakDetection.OFF);
    forget(100);
    pool.closeForcibly();
    assertEquals(List.of(), leaks);
  }

  @Test
  void shouldWriteAnEventWhenTheFlightRecorderRuns(@TempDir Path directory) throws Exception {
    Path file = directory.resolve("flight.jfr");
    try (Recording flight = new Recording()) {
      flight.enable("io.prmalloc.LeakFound");
      flight.start();
      open(LeakDetection.PARANOID);
      forget(4321);
      pool.closeForcibly();
      flight.stop();
      flight.dump(file);
    }

    List<RecordedEvent> events = RecordingFile.readAllEvents(file);
    assertEquals(1, events.size());
    assertEquals(4321, events.get(0).getLong("bytes"));
    assertEquals("POOL_CLOSED", events.get(0).getString("reason"));
    assertTrue(events.get(0).getString("allocationStack").contains("forget"));
  }

  @Test
  void shouldObeyThePropertyWhenTheBuilderSaysNothing() {
    System.setProperty("prmalloc.leakDetection", "paranoid");
    try {
      pool = TensorPoolAllocator.builder().leakListener(leaks::add).build();
      forget(1);
      pool.closeForcibly();
      assertEquals(1, leaks.size());
      System.setProperty("prmalloc.leakDetection", "sometimes");
      IllegalArgumentException refused =
          assertThrows(IllegalArgumentException.class, () -> TensorPoolAllocator.builder().build());
      assertTrue(refused.getMessage().contains("'sometimes'"), refused.getMessage());
    } finally {
      System.clearProperty("prmalloc.leakDetection");
    }
  }

  @Test
  void shouldRefuseSettingsWhenTheyAreOutOfBounds() {
    assertThrows(IllegalArgumentException.class, () -> LeakDetection.OFF.withInterval(-1));
    assertThrows(IllegalArgumentException.class, () -> LeakDetection.OFF.withSteps(0));
    assertThrows(
        IllegalArgumentException.class, () -> LeakDetection.OFF.withAge(Duration.ofNanos(-1)));
    open(LeakDetection.OFF);
  }
}
