package io.prmalloc.trace.replay;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prmalloc.SharedData;
import io.prmalloc.trace.Trace;
import io.prmalloc.trace.TraceInput;
import io.prmalloc.trace.replay.lane.Api;
import io.prmalloc.trace.replay.lane.Memory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Traffic that changes, with every byte checked, and the memory that the pool has afterwards. */
class ShiftReplayerTest {

  private static final Duration IDLE = Duration.ofMillis(100);

  private static final int THREADS = 8;

  private static final int PLANNED_THREADS = 4;

  /** In a step of a model. */
  private static final int TENSORS = 60;

  /** A pool learns for twelve steps of all threads together, at least. */
  private static final int LEARNING = 20;

  /** This many requests find nothing before statistics are collected anew. */
  private static final int UNSERVED = 4 * 128;

  private static final int FEW_RUNS = 2;
  private static final int MANY_RUNS = 8;

  private static final ReplayOptions OPTIONS =
      ReplayOptions.DEFAULT
          .withSteps(100)
          .withApi(Api.HANDLE)
          .withThreads(THREADS)
          .withTouch(Touch.FIRST);

  /** One thread reaches {@link #UNSERVED} after up to 110 steps, and hits must follow. */
  private static final ReplayOptions ONE_THREAD = OPTIONS.withThreads(1).withSteps(200);

  /** Cancels once a phase is over, however fast the machine is. */
  private static final class AfterTheFirst implements ReplayProgress {
    private boolean cancelled;

    @Override
    public void update(ReplayAllocator allocator, long steps, long totalSteps) {
      cancelled = steps >= 20_000;
    }

    @Override
    public boolean isCancelled() {
      return cancelled;
    }

    @Override
    public void close() {}
  }

  @Test
  void shouldKeepThePhasesThatAreOverWhenCancelled() throws InterruptedException {
    Trace small = Trace.builder("small").allocate("a", 50_000).build();
    Trace large = Trace.builder("large").allocate("a", 100_000).build();
    List<Trace> traces = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      traces.add(i % 2 == 0 ? small : large);
    }

    ShiftRun run =
        new ShiftReplayer(traces, ONE_THREAD.withSteps(20_000), Duration.ZERO)
            .run(ReplayAllocator.PLANNED, new AfterTheFirst());

    int phases = run.phases().size();
    assertTrue(phases >= 1 && phases < 200, () -> "phases " + phases);
    assertEquals(
        Optional.of("planned was interrupted after " + phases + " of 200 phases"), run.skipped());
    String text = new ShiftReport(List.of("small"), ONE_THREAD, Duration.ZERO, List.of(run)).text();
    assertTrue(text.contains("\nsmall  "), text);
    assertTrue(text.endsWith("\nskipped: " + run.skipped().get() + "\n"), text);
  }

  /** A step of a model: layer after layer, and at times something is kept for longer. */
  private static Trace model(long seed, int tensors, int batch) {
    SplittableRandom random = new SplittableRandom(seed);
    // A network has many tensors of few sizes.
    long[] sizes = new long[10];
    for (int i = 0; i < sizes.length; i++) {
      sizes[i] = random.nextInt(4) == 0 ? 4_000 : 20_000 + random.nextInt(40_000);
    }
    Trace.Builder trace = Trace.builder("model " + seed + " batch " + batch);
    List<String> live = new ArrayList<>();
    for (int tensor = 0; tensor < tensors; tensor++) {
      long bytes = batch * sizes[random.nextInt(sizes.length)];
      String id = "t" + tensor;
      trace.allocate(id, bytes);
      live.add(id);
      while (live.size() > (tensor % 5 == 0 ? 4 : 2)) {
        trace.release(live.remove(0));
      }
    }
    return trace.build();
  }

  private static ShiftRun run(ReplayAllocator allocator, ReplayOptions options, Trace... traces)
      throws InterruptedException {
    ShiftRun run = new ShiftReplayer(List.of(traces), options, IDLE).run(allocator, null);
    assertEquals(Optional.empty(), run.failure());
    assertEquals(traces.length, run.phases().size());
    return run;
  }

  private static void checkMemory(ShiftRun run, double most) {
    for (ShiftPhase phase : run.phases()) {
      assertTrue(
          phase.ratio() <= most, () -> phase + " holds " + phase.ratio() + " times its plan");
      assertTrue(phase.peakBytes() >= phase.endBytes(), phase::toString);
    }
  }

  private static void checkShared(ShiftRun run) {
    for (ShiftPhase phase : run.phases()) {
      assertTrue(phase.stepsToHits().isPresent(), run::toString);
      assertTrue(phase.misses() <= UNSERVED + LEARNING * TENSORS, run::toString);
      assertTrue(phase.replans() <= 1, run::toString);
    }
    checkMemory(run, 1.1);
  }

  /**
   * Threads find orders of requests that no plan was made for, so that some requests miss until
   * their bins have grown, and the heap has a region for those that go on missing. How much that is
   * is chance, for a new pool too: of 24 medians of three new pools for the second trace the
   * smallest took 7.9 MB, the largest 9.2, their average 8.4; of 24 that came to that trace by a
   * shift one took 10.4, the others at most 9.2, their average 8.3. So averages are compared: of
   * two runs, and where one is over its bound, which is chance in one of some fifteen, of eight.
   */
  private static void checkSharedByThreads(Trace... traces) throws Exception {
    List<ShiftRun> runs = new ArrayList<>();
    while (runs.size() < FEW_RUNS) {
      runs.add(runOfThreads(traces));
    }
    boolean enough = highestRatio(runs) <= 1.1;
    while (!enough && runs.size() < MANY_RUNS) {
      runs.add(runOfThreads(traces));
    }
    assertTrue(highestRatio(runs) <= 1.1, () -> highestRatio(runs) + " times new pools: " + runs);
  }

  private static ShiftRun runOfThreads(Trace... traces) throws InterruptedException {
    ShiftRun run = run(ReplayAllocator.POOL, OPTIONS, traces);
    for (ShiftPhase phase : run.phases()) {
      double most = UNSERVED + LEARNING * THREADS * TENSORS + 0.01 * phase.requests();
      assertTrue(phase.misses() <= most, () -> phase + " has more misses than " + most);
      assertTrue(phase.peakBytes() >= phase.endBytes(), phase::toString);
    }
    return run;
  }

  /** Of all phases: what the pools hold in the end over what new pools do. */
  private static double highestRatio(List<ShiftRun> runs) {
    return IntStream.range(0, runs.get(0).phases().size())
        .mapToDouble(
            i ->
                (double) runs.stream().mapToLong(run -> run.phases().get(i).endBytes()).sum()
                    / runs.stream().mapToLong(run -> run.phases().get(i).freshBytes()).sum())
        .max()
        .orElseThrow();
  }

  private static void checkPlanned(ShiftRun run) {
    for (ShiftPhase phase : run.phases()) {
      // Three that are alike, and one arena more for every thread.
      assertTrue(
          phase.stepsToHits().orElse(Integer.MAX_VALUE) <= 3 + PLANNED_THREADS, run::toString);
      // Those that run when sizes grow depart, until the plan is raised in the background.
      assertTrue(phase.departedSteps() <= 4 * PLANNED_THREADS, run::toString);
    }
    checkMemory(run, 1.1);
  }

  @Test
  void shouldFollowTheBatchWhenMemoryIsShared() throws InterruptedException {
    checkShared(
        run(
            ReplayAllocator.POOL,
            ONE_THREAD,
            model(2, TENSORS, 2),
            model(2, TENSORS, 8),
            model(2, TENSORS, 2)));
  }

  @Test
  void shouldFollowTheModelWhenMemoryIsShared() throws InterruptedException {
    checkShared(run(ReplayAllocator.POOL, ONE_THREAD, model(2, TENSORS, 4), model(4, TENSORS, 4)));
  }

  @Tag("long")
  @Test
  void shouldFollowTheBatchWhenThreadsShareMemory() throws Exception {
    Trace two = model(2, TENSORS, 2);
    checkSharedByThreads(two, model(2, TENSORS, 8), two);
  }

  @Tag("long")
  @Test
  void shouldFollowTheModelWhenThreadsShareMemory() throws Exception {
    checkSharedByThreads(model(2, TENSORS, 4), model(4, TENSORS, 4));
  }

  @Test
  void shouldFollowTheBatchWhenStepsArePlanned() throws InterruptedException {
    ShiftRun run =
        run(
            ReplayAllocator.PLANNED,
            OPTIONS.withThreads(PLANNED_THREADS),
            model(2, TENSORS, 2),
            model(2, TENSORS, 8),
            model(2, TENSORS, 2));
    checkPlanned(run);
    assertEquals(1, run.phases().get(2).replans(), "it is lowered");
    assertEquals(0, run.phases().get(2).misses(), "and no step finds no arena for that");
  }

  @Test
  void shouldFollowTheModelWhenStepsArePlanned() throws InterruptedException {
    checkPlanned(
        run(
            ReplayAllocator.PLANNED,
            OPTIONS.withThreads(PLANNED_THREADS),
            model(2, TENSORS, 4),
            model(4, TENSORS, 4)));
  }

  @ParameterizedTest
  @CsvSource("PLANNED, Squeezenet, 60")
  void shouldFollowTheBatchOfRealTraces(ReplayAllocator allocator, String model, int most)
      throws InterruptedException {
    checkBatch(allocator, model, most);
  }

  @Tag("long")
  @ParameterizedTest
  @CsvSource({"POOL, Squeezenet, 60", "POOL, MobilenetV2, 60"})
  void shouldFollowTheBatchOfRealTracesWhenMemoryIsShared(
      ReplayAllocator allocator, String model, int most) throws InterruptedException {
    checkBatch(allocator, model, most);
  }

  private static void checkBatch(ReplayAllocator allocator, String model, int most)
      throws InterruptedException {
    Trace two = shared(model, 2);
    Trace eight = shared(model, 8);
    ShiftRun run =
        run(
            allocator,
            OPTIONS.withThreads(1).withTouch(Touch.NONE).withMemory(Memory.MMAP),
            two,
            eight,
            two);
    for (ShiftPhase phase : run.phases()) {
      assertTrue(phase.stepsToHits().orElse(Integer.MAX_VALUE) <= most, run::toString);
    }
    checkMemory(run, 1.1);
  }

  private static Trace shared(String model, int batch) {
    return new TraceInput(SharedData.path("mnn/" + model).toString(), null, batch).read();
  }

  @Test
  void shouldRefuseWhatCannotBeRun() {
    Trace huge = Trace.builder("huge").allocate("a", 1L << 40).build();
    assertThrows(
        IllegalArgumentException.class, () -> new ShiftReplayer(List.of(huge), OPTIONS, IDLE));
    assertThrows(IllegalArgumentException.class, () -> new ShiftReplayer(List.of(), OPTIONS, IDLE));
    assertThrows(
        IllegalArgumentException.class,
        () -> new ShiftReplayer(List.of(model(1, 3, 1)), OPTIONS, Duration.ofNanos(-1)));
  }
}
