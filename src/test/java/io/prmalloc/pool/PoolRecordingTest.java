package io.prmalloc.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.Allocation;
import io.prmalloc.SubAllocator;
import io.prmalloc.lifetime.ScopedMemoryCollector;
import io.prmalloc.recording.Recording;
import io.prmalloc.recording.RecordingEnd;
import io.prmalloc.recording.RecordingOptions;
import io.prmalloc.recording.Recordings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PoolRecordingTest {

  private static final RecordingOptions PATIENT =
      RecordingOptions.DEFAULT.withLongestWait(Duration.ofDays(1));

  @TempDir private Path directory;

  private final SubAllocator source = SubAllocator.direct();

  private final TensorPoolAllocator pool =
      TensorPoolAllocator.builder()
          .subAllocator(source)
          .planner(Steps.planner(1))
          .executor(Runnable::run)
          .stepPlanningTime(Duration.ZERO)
          .build();

  @AfterEach
  void close() {
    pool.close();
    assertEquals(0, source.bytesReserved());
  }

  private Path file() {
    return directory.resolve("recording");
  }

  private void takeOneOfEachKind() {
    for (long bytes : new long[] {0, 100, 32_768, 40_000, 5_000_000}) {
      pool.allocate(bytes).close();
      pool.deallocateRaw(pool.allocateRaw(256, bytes));
    }
    pool.allocate(100, 8192).close();
    pool.allocate(40_000, 8192).close();
  }

  private static List<String> oneOfEachKind() {
    List<String> events = new ArrayList<>();
    for (long bytes : new long[] {0, 100, 32_768, 40_000, 5_000_000}) {
      addPair(events, bytes, 64);
      addPair(events, bytes, 256);
    }
    addPair(events, 100, 8192);
    addPair(events, 40_000, 8192);
    return events;
  }

  private static void addPair(List<String> events, long bytes, long alignment) {
    int id = events.size();
    events.add("a " + id + " " + bytes + " " + alignment + " -1");
    events.add("f " + id + " -1");
  }

  @Test
  void shouldRecordEveryKindOfRequestWhenNothingIsPlanned() {
    Recording recording = pool.record(file());
    takeOneOfEachKind();
    recording.close();

    assertEquals(oneOfEachKind(), Recordings.events(file()));
  }

  @Test
  void shouldRecordEveryKindOfRequestWhenThePoolServes() {
    Pools.learn(pool, 40_000, 50_000);
    takeOneOfEachKind();
    long hits = pool.poolStats().hits();
    Recording recording = pool.record(file());
    takeOneOfEachKind();
    recording.close();

    assertEquals(oneOfEachKind(), Recordings.events(file()));
    assertEquals(2 * hits, pool.poolStats().hits());
    takeOneOfEachKind();
    assertEquals(3 * hits, pool.poolStats().hits());
    assertEquals(0, recording.unrecordedEvents());
  }

  @Test
  void shouldRecordStepsWhenTheyAreOpenedMeanwhile() {
    ScopedMemoryCollector before = pool.collect();
    Recording recording = pool.record(file());
    ScopedMemoryCollector outer = pool.collect();
    Allocation first = pool.allocate(40_000);
    ScopedMemoryCollector inner = pool.collect();
    inner.close();
    inner.close();
    first.close();
    outer.close();
    before.close();
    recording.close();

    assertEquals(
        List.of("( 0", "a 1 40000 64 0", "( 1", ") 1", "f 1 0", ") 0"), Recordings.events(file()));
    assertEquals(1, pool.planner().packedSteps(), "the planner saw the steps too");
  }

  @Test
  void shouldRecordOnThroughTheSwitchOverWhenAPlanIsMade() {
    Recording recording = pool.record(file());
    Allocation outside = pool.allocate(40_000);
    Pools.learn(pool, 40_000, 50_000);
    assertTrue(pool.isPooling());
    Allocation pooled = pool.allocate(40_000);
    pooled.close();
    outside.close();
    recording.close();

    assertEquals(1, pool.poolStats().hits());
    assertEquals(
        List.of("a 0 40000 64 -1", "( 0", ") 0", "a 3 40000 64 -1", "f 3 -1", "f 0 -1"),
        Recordings.events(file()));
  }

  private void runStep() {
    try (ScopedMemoryCollector step = pool.collect();
        Allocation first = step.allocate(100);
        Allocation second = step.allocate(40_000)) {
      assertEquals(100, first.sizeBytes());
      assertEquals(40_000, second.sizeBytes());
      step.deallocateRaw(step.allocateRaw(300));
    }
  }

  @Test
  void shouldRecordWhatStepsTakeWhenTheyArePlanned() {
    for (int i = 0; i < 100; i++) {
      runStep();
    }
    assertTrue(pool.stepStats().plannedSteps() > 0, "" + pool.stepStats());
    Recording recording = pool.record(file());
    runStep();
    recording.close();
    long planned = pool.stepStats().plannedSteps();
    runStep();

    assertEquals(
        List.of(
            "( 0",
            "a 1 100 64 0",
            "a 2 40000 64 0",
            "a 3 300 64 0",
            "f 3 0",
            "f 2 0",
            "f 1 0",
            ") 0"),
        Recordings.events(file()));
    assertEquals(planned + 1, pool.stepStats().plannedSteps());
  }

  @Test
  void shouldRecordNoReleaseWhenTheAllocationWasNotRecorded() {
    Pools.learn(pool, 40_000);
    List<Allocation> before = Pools.take(pool, 100, 40_000, 5_000_000);
    Recording recording = pool.record(file());
    List<Allocation> meanwhile = Pools.take(pool, 100, 40_000);
    before.forEach(Allocation::close);
    recording.close();
    meanwhile.forEach(Allocation::close);

    assertEquals(List.of("a 0 100 64 -1", "a 1 40000 64 -1"), Recordings.events(file()));
    assertEquals(2, recording.unrecordedEvents());
  }

  @Test
  void shouldRefuseASecondCloseWhenTheFirstWasObserved() {
    Pools.learn(pool, 40_000);
    try (Recording recording = pool.record(file())) {
      Allocation handle = pool.allocate(40_000);
      assertEquals(40_000, handle.byteBuffer().limit());
      handle.close();
      assertThrows(IllegalStateException.class, handle::close);
      assertThrows(IllegalStateException.class, handle::byteBuffer);
      long address = pool.allocateRaw(64, 40_000);
      pool.deallocateRaw(address);
      assertThrows(IllegalArgumentException.class, () -> pool.deallocateRaw(address));
      assertEquals(4, recording.events());
    }
    assertEquals(2, pool.stats().numAllocs());
    assertEquals(0, pool.stats().bytesInUse());
  }

  @Test
  void shouldHearOfTheSameEventsWhenTwoRecordTogether() {
    Path other = directory.resolve("other");
    Recording first = pool.record(file());
    takeOneOfEachKind();
    Recording second = pool.record(other);
    takeOneOfEachKind();
    second.close();
    takeOneOfEachKind();
    first.close();

    assertEquals(oneOfEachKind(), Recordings.events(other));
    assertEquals(3 * oneOfEachKind().size(), Recordings.events(file()).size());
  }

  @Test
  void shouldGoOnUnrecordedWhenTheFileIsFull() throws IOException {
    Pools.learn(pool, 40_000);
    Recording recording = pool.record(file(), PATIENT.withMaxBytes(2048));
    while (recording.end().isEmpty()) {
      pool.allocate(40_000).close();
      pool.allocate(100).close();
    }
    long size = Files.size(file());
    assertEquals(Optional.of(RecordingEnd.FULL), recording.end());
    recording.close();
    long unrecorded = recording.unrecordedEvents();
    takeOneOfEachKind();

    assertEquals(unrecorded, recording.unrecordedEvents(), "nobody asks the recorder any more");
    assertEquals(size, Files.size(file()));
    assertTrue(size <= 2048, size + " bytes");
  }

  @Test
  void shouldEndTheRecordingWhenThePoolIsClosed() {
    TensorPoolAllocator other = TensorPoolAllocator.builder().build();
    Recording recording = other.record(file());
    other.allocate(100).close();
    other.close();

    assertEquals(Optional.of(RecordingEnd.CLOSED), recording.end());
    assertEquals(List.of("a 0 100 64 -1", "f 0 -1"), Recordings.events(file()));
    assertThrows(IllegalStateException.class, () -> other.record(directory.resolve("late")));
    assertTrue(Files.notExists(directory.resolve("late")));
  }

  @Test
  void shouldEndTheRecordingWhenThePoolIsClosedByForce() {
    TensorPoolAllocator other = TensorPoolAllocator.builder().build();
    Recording recording = other.record(file());
    Pools.take(other, 100, 40_000);
    other.closeForcibly();

    assertEquals(Optional.of(RecordingEnd.CLOSED), recording.end());
    assertEquals("a 0 100 64 -1", Recordings.events(file()).get(0));
  }

  @Test
  void shouldKeepEveryFileConsistentWhenThreadsGoOnAndRecordingsComeAndGo() throws Exception {
    Pools.learn(pool, 40_000, 50_000, 60_000, 40_000);
    long seed = System.nanoTime();
    ExecutorService executor = Executors.newFixedThreadPool(3);
    try {
      boolean[] stop = new boolean[1];
      List<Future<Long>> pairs = new ArrayList<>();
      for (int thread = 0; thread < 3; thread++) {
        SplittableRandom random = new SplittableRandom(seed + thread);
        pairs.add(executor.submit(() -> churn(random, stop)));
      }
      long events = 0;
      for (int round = 0; round < 20; round++) {
        Path each = directory.resolve("round" + round);
        Recording recording = pool.record(each, PATIENT.withBufferedEvents(1 << 12));
        while (recording.events() < 500 && pairs.stream().noneMatch(Future::isDone)) {
          Thread.onSpinWait();
        }
        recording.close();
        assertEquals(recording.events(), Recordings.events(each).size(), "seed " + seed);
        events += recording.events();
      }
      synchronized (stop) {
        stop[0] = true;
      }
      long all = 0;
      for (Future<Long> each : pairs) {
        all += each.get();
      }
      assertTrue(2 * all > events, "seed " + seed);
      assertEquals(all, pool.stats().numAllocs(), "seed " + seed);
    } finally {
      executor.shutdown();
    }
    assertEquals(0, pool.stats().bytesInUse(), "seed " + seed);
  }

  private long churn(SplittableRandom random, boolean[] stop) {
    long[] sizes = {100, 5000, 40_000, 50_000, 60_000, 100_000};
    List<Allocation> out = new ArrayList<>();
    long pairs = 0;
    while (true) {
      synchronized (stop) {
        if (stop[0]) {
          break;
        }
      }
      out.add(pool.allocate(sizes[random.nextInt(sizes.length)]));
      pairs++;
      while (out.size() > 4 || (!out.isEmpty() && random.nextBoolean())) {
        out.remove(random.nextInt(out.size())).close();
      }
      pool.deallocateRaw(pool.allocateRaw(64, sizes[random.nextInt(sizes.length)]));
      pairs++;
    }
    out.forEach(Allocation::close);
    return pairs;
  }
}
