package io.prmalloc.trace.replay;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.recording.Recorder;
import io.prmalloc.recording.RecordingOptions;
import io.prmalloc.trace.TraceFormatException;
import io.prmalloc.trace.replay.lane.Api;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RecordedReplayerTest {

  private static final ReplayOptions ALL = ReplayOptions.DEFAULT.withTouch(Touch.ALL);

  @TempDir private Path directory;

  private final ExecutorService first = Executors.newSingleThreadExecutor();
  private final ExecutorService second = Executors.newSingleThreadExecutor();

  @AfterEach
  void endThreads() {
    first.shutdown();
    second.shutdown();
  }

  private static long on(ExecutorService thread, Callable<Long> what)
      throws ExecutionException, InterruptedException {
    return thread.submit(what).get();
  }

  private static void on(ExecutorService thread, Runnable what)
      throws ExecutionException, InterruptedException {
    thread.submit(what).get();
  }

  /** What is recorded, while a recorder is there. */
  private interface Recorded {
    void by(Recorder recorder) throws ExecutionException, InterruptedException;
  }

  private RecordedTraffic record(Recorded recorded)
      throws ExecutionException, InterruptedException {
    Path file = directory.resolve("server.rec");
    try (Recorder recorder = Recorder.start(file, RecordingOptions.DEFAULT, () -> {})) {
      recorded.by(recorder);
    }
    return RecordedTraffic.read(file);
  }

  /** Fifty steps of one thread; another one releases one of the three tensors of each. */
  private void handOver(Recorder recorder) throws ExecutionException, InterruptedException {
    for (int i = 0; i < 50; i++) {
      long step = on(first, recorder::stepOpened);
      long kept = on(first, () -> recorder.allocated(100_000, 64));
      long handed = on(first, () -> recorder.allocated(50_000, 64));
      long small = on(first, () -> recorder.allocated(3, 64));
      on(first, () -> recorder.released(small));
      on(first, () -> recorder.released(kept));
      on(first, () -> recorder.stepClosed(step));
      on(second, () -> recorder.released(handed));
    }
  }

  @ParameterizedTest
  @CsvSource({
    "POOL, RAW",
    "POOL, HANDLE",
    "PLANNED, RAW",
    "PLANNED, HANDLE",
    "CPU, RAW",
    "MALLOC, RAW",
    "NETTY, RAW",
    "NETTY_ADAPTIVE, RAW",
    "DIRECT, RAW"
  })
  void shouldRunWhatOneThreadHandsToAnother(ReplayAllocator allocator, Api api) throws Exception {
    RecordedTraffic traffic = record(this::handOver);

    assertEquals(2, traffic.threads());
    assertEquals(50, traffic.steps());
    assertEquals(150, traffic.allocations());
    assertEquals(150_003, traffic.loadBytes());
    assertEquals(100_032 + 50_048 + 64, traffic.alignedLoadBytes());
    ReplayRun run = new RecordedReplayer(traffic, ALL.withApi(api)).run(allocator, null);
    assertEquals(Optional.empty(), run.failure());
    assertEquals(2, run.threads());
    // The second thread knows no steps, and is one.
    assertEquals(51, run.steps());
    assertTrue(run.measured().orElseThrow().nanosPerPair() > 0, run::toString);
    assertTrue(run.cold().orElseThrow().steady().p50() > 0, run::toString);
  }

  @Test
  void shouldAskForTheRecordedSizesInTheRecordedStepsOfTheRecordedThreads() throws Exception {
    RecordedTraffic traffic =
        record(
            recorder -> {
              for (int i = 0; i < 3; i++) {
                long size = 1000L + i;
                long outer = on(first, recorder::stepOpened);
                // A step within a step is part of it.
                long inner = on(first, recorder::stepOpened);
                long it = on(first, () -> recorder.allocated(size, 64));
                on(first, () -> recorder.stepClosed(inner));
                on(first, () -> recorder.stepClosed(outer));
                on(first, () -> recorder.released(it));
                on(second, () -> recorder.released(recorder.allocated(7 * size, 128)));
              }
            });

    SeenSizes seen = new SeenSizes();
    ReplayRun run = new RecordedReplayer(traffic, ALL).run(ReplayAllocator.MALLOC, seen, null);

    assertEquals(Optional.empty(), run.failure());
    assertEquals(List.of(List.of(1000L, 1001L, 1002L), List.of(7000L, 7007L, 7014L)), seen.sizes());
    assertEquals(List.of(1, -1, 1, -1, 1, -1), seen.steps());
  }

  @ParameterizedTest
  @CsvSource({"POOL", "PLANNED", "MALLOC"})
  void shouldCloseAStepByTheThreadThatClosedIt(ReplayAllocator allocator) throws Exception {
    RecordedTraffic traffic =
        record(
            recorder -> {
              for (int i = 0; i < 40; i++) {
                long step = on(first, recorder::stepOpened);
                long it = on(first, () -> recorder.allocated(70_000, 64));
                on(second, () -> recorder.stepClosed(step));
                // Outside of any step.
                on(first, () -> recorder.released(recorder.allocated(40_000, 64)));
                on(first, () -> recorder.released(it));
              }
            });

    ReplayRun run = new RecordedReplayer(traffic, ALL).run(allocator, null);

    assertEquals(Optional.empty(), run.failure());
    assertEquals(40, traffic.steps());
  }

  @Test
  void shouldReleaseAndCloseAtTheEndWhatWasLeft() throws Exception {
    RecordedTraffic traffic =
        record(
            recorder -> {
              on(first, recorder::stepOpened);
              on(first, () -> recorder.allocated(500, 64));
              on(second, () -> recorder.allocated(600, 64));
            });
    BrokenTarget target = new BrokenTarget((tensor, before) -> 0L);
    SeenSizes seen = new SeenSizes();

    new RecordedReplayer(traffic, ReplayOptions.DEFAULT).run(ReplayAllocator.MALLOC, target, null);
    new RecordedReplayer(traffic, ALL).run(ReplayAllocator.MALLOC, seen, null);

    assertEquals(0, target.out());
    assertEquals(List.of(1, -1), seen.steps());
  }

  @Test
  void shouldStopAllThreadsAndNameTheAllocationWhenAnotherWroteThere() throws Exception {
    RecordedTraffic traffic = record(this::handOver);
    BrokenTarget target = new BrokenTarget((tensor, before) -> 0L);

    ReplayRun run = new RecordedReplayer(traffic, ALL).run(ReplayAllocator.MALLOC, target, null);

    String failure = run.failure().orElseThrow();
    assertTrue(
        failure.matches(
            "thread [01], step \\d+, releasing allocation \\d+ of \\d+ bytes: the byte at"
                + " offset \\d+ is 0x.., expected 0x..: somebody else wrote there"),
        failure);
    assertTrue(target.isClosed());
  }

  @Test
  void shouldRefuseAnAllocationThatIsTooLarge() {
    TraceFormatException refused =
        assertThrows(
            TraceFormatException.class,
            () ->
                record(
                    recorder ->
                        recorder.released(recorder.allocated(Replayer.MAX_TENSOR_BYTES + 1, 64))));

    assertEquals(
        directory.resolve("server.rec")
            + ": event 0 allocates 2147483520 bytes; the most that can be replayed is 2147483519",
        refused.getMessage());
  }

  @Test
  void shouldRefuseARecordingWithoutAllocations() {
    TraceFormatException refused =
        assertThrows(
            TraceFormatException.class,
            () -> record(recorder -> recorder.stepClosed(recorder.stepOpened())));

    assertEquals(directory.resolve("server.rec") + ": holds no allocation", refused.getMessage());
  }
}
