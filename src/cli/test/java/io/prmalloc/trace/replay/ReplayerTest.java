package io.prmalloc.trace.replay;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.trace.Trace;
import io.prmalloc.trace.replay.lane.Api;
import io.prmalloc.trace.replay.lane.Memory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class ReplayerTest {

  private static final Duration NO_SETTLING = Duration.ZERO;

  /** Small, planned and empty tensors, and an odd size, overlapping. */
  private static final Trace TRACE =
      Trace.builder("t")
          .allocate("large", 100_003)
          .allocate("empty", 0)
          .allocate("small", 100)
          .allocate("tiny", 3)
          .release("large")
          .allocate("other", 70_000)
          .release("empty")
          .allocate("large", 100_003)
          .build();

  private static final Trace TWO =
      Trace.builder("t").allocate("first", 64).allocate("second", 64).build();

  private static final ReplayOptions FEW_STEPS = ReplayOptions.DEFAULT.withSteps(20);

  @ParameterizedTest
  @CsvSource({
    "POOL, NONE, RAW, DIRECT",
    "POOL, FIRST, RAW, DIRECT",
    "POOL, PAGE, RAW, MMAP",
    "POOL, ALL, RAW, DIRECT",
    "POOL, ALL, RAW, MMAP",
    "POOL, FIRST, HANDLE, DIRECT",
    "POOL, PAGE, HANDLE, MMAP",
    "POOL, ALL, HANDLE, DIRECT",
    "CPU, FIRST, RAW, DIRECT",
    "CPU, ALL, HANDLE, MMAP",
    "CPU, ALL, RAW, MMAP",
    "DIRECT, PAGE, RAW, DIRECT",
    "DIRECT, ALL, RAW, DIRECT",
    "NETTY, FIRST, RAW, DIRECT",
    "NETTY, ALL, RAW, DIRECT",
    "NETTY_ADAPTIVE, PAGE, RAW, DIRECT",
    "NETTY_ADAPTIVE, ALL, RAW, DIRECT",
    "MALLOC, FIRST, RAW, DIRECT",
    "MALLOC, ALL, RAW, DIRECT"
  })
  void shouldMeasureWhenTheAllocatorIsSound(
      ReplayAllocator allocator, Touch touch, Api api, Memory memory) throws InterruptedException {
    ReplayOptions options = FEW_STEPS.withTouch(touch).withApi(api).withMemory(memory);

    ReplayRun run = new Replayer(TRACE, options, NO_SETTLING).run(allocator, null);

    assertEquals(Optional.empty(), run.failure());
    ReplayRun.Measured measured = run.measured().orElseThrow();
    assertTrue(measured.p50Micros() > 0, measured::toString);
    assertTrue(measured.p50Micros() <= measured.p99Micros(), measured::toString);
    assertTrue(measured.p99Micros() <= measured.maxMicros(), measured::toString);
    assertTrue(measured.nanosPerPair() > 0, measured::toString);
    assertTrue(measured.peakReservedBytes() >= TRACE.loadBytes(), measured::toString);
    assertEquals(allocator == ReplayAllocator.POOL, measured.pool().isPresent());
  }

  @ParameterizedTest
  @EnumSource(Api.class)
  void shouldHitEveryTimeWhenTheSameStepRepeats(Api api) throws InterruptedException {
    ReplayRun.Measured measured =
        new Replayer(TRACE, FEW_STEPS.withApi(api).withTouch(Touch.ALL), NO_SETTLING)
            .run(ReplayAllocator.POOL, null)
            .measured()
            .orElseThrow();

    ReplayRun.PoolCounts pool = measured.pool().orElseThrow();
    assertTrue(pool.pooling());
    // Three planned tensors a step.
    assertEquals(3 * 20, pool.hits());
    assertEquals(0, pool.misses());
    assertEquals(0, pool.nullBins());
    // Finer classes than the reference has fit these sizes best.
    assertEquals(2048, pool.policyIntervalBytes());
    assertTrue(pool.arenaBytes() >= pool.planBytes());
    assertTrue(measured.warmupSteps() > 10, measured::toString);
    assertTrue(measured.warmupSteps() < 20, measured::toString);
  }

  @Test
  void shouldPlanEarlierWhenWarmUpIsBounded() throws InterruptedException {
    ReplayRun.Measured measured =
        new Replayer(TRACE, FEW_STEPS.withWarmupSteps(3), NO_SETTLING)
            .run(ReplayAllocator.POOL, null)
            .measured()
            .orElseThrow();

    assertEquals(3, measured.warmupSteps());
    assertTrue(measured.pool().orElseThrow().pooling());
    assertEquals(3 * 20, measured.pool().orElseThrow().hits());
  }

  @Test
  void shouldCountAllThreadsWhenThereAreSeveral() throws InterruptedException {
    ReplayRun run =
        new Replayer(TRACE, FEW_STEPS.withThreads(3).withTouch(Touch.ALL), NO_SETTLING)
            .run(ReplayAllocator.POOL, null);

    assertEquals(Optional.empty(), run.failure());
    ReplayRun.PoolCounts pool = run.measured().orElseThrow().pool().orElseThrow();
    assertTrue(pool.pooling());
    assertEquals(3 * 3 * 20, pool.hits() + pool.misses() + pool.nullBins());
    assertEquals(3, run.threads());
  }

  @Test
  void shouldSayHowFarItIsWhenAskedTo() throws InterruptedException {
    List<Long> told = new ArrayList<>();
    ReplayProgress progress =
        new ReplayProgress() {
          @Override
          public void update(ReplayAllocator allocator, long steps, long totalSteps) {
            assertEquals(ReplayAllocator.MALLOC, allocator);
            assertEquals(40, totalSteps);
            told.add(steps);
          }

          @Override
          public void close() {}
        };

    ReplayRun run =
        new Replayer(TRACE, FEW_STEPS.withThreads(2), NO_SETTLING)
            .run(ReplayAllocator.MALLOC, progress);

    assertTrue(run.measured().isPresent());
    assertEquals(40, told.get(told.size() - 1));
  }

  /** A thread that goes on until somebody is told of its seven steps of warm-up. */
  @Test
  void shouldTellOfWarmUpWhenNoStepIsMeasuredYet() throws InterruptedException {
    CountDownLatch told = new CountDownLatch(1);
    List<Long> warmups = new ArrayList<>();
    ReplayProgress progress =
        new ReplayProgress() {
          @Override
          public void update(ReplayAllocator allocator, long steps, long totalSteps) {
            assertEquals(10, totalSteps);
          }

          @Override
          public void warmUp(ReplayAllocator allocator, long steps) {
            warmups.add(steps);
            told.countDown();
          }

          @Override
          public void close() {}
        };
    Thread thread =
        new Thread(
            () -> {
              try {
                told.await();
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
            });
    thread.start();

    Replayer.await(List.of(thread), progress, ReplayAllocator.POOL, 10, () -> 0, () -> 7);

    assertEquals(7, warmups.get(0));
  }

  @Test
  void shouldNameTensorAndOffsetWhenTensorsOverlap() throws InterruptedException {
    BrokenTarget target = new BrokenTarget((tensor, before) -> tensor == 0 ? 0L : 40L);

    ReplayRun run = replayTwo(target, Touch.ALL);

    long stepSeed = Pattern.stepSeed(0, 0);
    assertEquals(
        String.format(
            "thread 0, step 0, releasing tensor first of 64 bytes: the byte at offset 40 is"
                + " 0x%02x, expected 0x%02x: somebody else wrote there",
            Pattern.byteAt(Pattern.seed(stepSeed, 1), 0),
            Pattern.byteAt(Pattern.seed(stepSeed, 0), 40)),
        run.failure().orElseThrow());
    assertEquals(0, target.out());
    assertTrue(target.isClosed());
  }

  @Test
  void shouldNotSeeItWhenTensorsOverlapButAreNotChecked() throws InterruptedException {
    BrokenTarget target = new BrokenTarget((tensor, before) -> 0L);

    ReplayRun run = replayTwo(target, Touch.PAGE);

    assertEquals(Optional.empty(), run.failure());
  }

  @Test
  void shouldFailWhenMemoryIsRefused() throws InterruptedException {
    BrokenTarget target =
        new BrokenTarget((tensor, before) -> tensor == 1 && before > 6 ? -1L : 64L * tensor);

    ReplayRun run = replayTwo(target, Touch.ALL);

    assertEquals(
        "thread 0, step 3, allocating tensor second of 64 bytes: memory of 64 bytes is not"
            + " available",
        run.failure().orElseThrow());
    assertEquals(Optional.empty(), run.measured());
    assertEquals(0, target.out());
  }

  @Test
  void shouldFailWhenTheAllocatorThrows() throws InterruptedException {
    BrokenTarget target =
        new BrokenTarget(
            (tensor, before) -> {
              throw new IllegalStateException("closed");
            });

    ReplayRun run = replayTwo(target, Touch.NONE);

    assertEquals(
        "thread 0, step 0, allocating tensor first of 64 bytes: java.lang.IllegalStateException:"
            + " closed",
        run.failure().orElseThrow());
  }

  @Test
  void shouldStopAllThreadsWhenOneFails() throws InterruptedException {
    BrokenTarget target = new BrokenTarget((tensor, before) -> before > 100 ? -1L : 64L * tensor);

    ReplayRun run =
        new Replayer(TWO, FEW_STEPS.withSteps(1_000_000_000).withThreads(3), NO_SETTLING)
            .run(ReplayAllocator.MALLOC, target, null);

    assertTrue(run.failure().orElseThrow().endsWith("is not available"));
    assertEquals(0, target.out());
  }

  private static ReplayRun replayTwo(BrokenTarget target, Touch touch) throws InterruptedException {
    return new Replayer(TWO, FEW_STEPS.withTouch(touch), NO_SETTLING)
        .run(ReplayAllocator.MALLOC, target, null);
  }

  @Test
  void shouldRefuseWhenATensorIsTooLarge() {
    Trace trace = Trace.builder("t").allocate("x", Replayer.MAX_TENSOR_BYTES + 1).build();

    IllegalArgumentException refused =
        assertThrows(
            IllegalArgumentException.class,
            () -> new Replayer(trace, ReplayOptions.DEFAULT, NO_SETTLING));

    assertEquals(
        "t: tensor x of 2147483520 bytes exceeds 2147483519, the most that can be replayed",
        refused.getMessage());
  }

  @ParameterizedTest
  @EnumSource(names = {"JEMALLOC", "MIMALLOC"})
  void shouldSayWhyWhenALibraryIsAbsent(ReplayAllocator allocator) throws InterruptedException {
    ReplayRun run =
        new Replayer(TRACE, FEW_STEPS.withTouch(Touch.ALL), NO_SETTLING).run(allocator, null);

    assertEquals(Optional.empty(), run.failure());
    assertTrue(run.skipped().isPresent() != run.measured().isPresent());
    run.skipped()
        .ifPresent(
            reason ->
                assertTrue(reason.startsWith(allocator.label() + " cannot be loaded: "), reason));
  }
}
