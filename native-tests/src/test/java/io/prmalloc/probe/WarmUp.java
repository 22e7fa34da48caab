package io.prmalloc.probe;

import io.prmalloc.lifetime.MemoryPlannerFactory;
import io.prmalloc.pool.TensorPoolAllocator;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.stream.IntStream;

/**
 * A server from its start to steady state, in a JVM of its own because the kernel keeps one peak
 * per process. Prints three numbers of bytes: the peak of the JVM with all classes loaded, the
 * pool's arena, and the peak at the end.
 *
 * <p>Threading: {@link #main} waits for the threads it starts.
 */
final class WarmUp {

  /** Enough for a background planner to come to its end, too, when steps are short. */
  private static final int MOST_WARM_UP_STEPS = 50_000;

  private static final int STEADY_STEPS = 10;

  private WarmUp() {}

  /**
   * Runs it.
   *
   * @param arguments where memory comes from, whether to plan in the background, and how many
   *     threads run steps
   */
  public static void main(String[] arguments) {
    Source source = Source.valueOf(arguments[0]);
    Executor executor =
        Boolean.parseBoolean(arguments[1])
            ? MemoryPlannerFactory.newPlannerExecutor()
            : Runnable::run;
    int threads = Integer.parseInt(arguments[2]);
    run(source, executor, threads, Step.of(12, 20, 64 << 10));
    long jvm = Probe.probe_peak_resident_bytes();
    // Tensors of up to 4 MiB, 120 MiB at a time: sizes that the C library likes to keep.
    long pool = run(source, executor, threads, Step.mirrored(11, 250, 4 << 20));
    System.out.println(jvm + " " + pool + " " + Probe.probe_peak_resident_bytes());
  }

  /** Returns the bytes of the arena. */
  private static long run(Source source, Executor executor, int threads, Step step) {
    try (TensorPoolAllocator pool =
        TensorPoolAllocator.builder()
            .subAllocator(source.open())
            .startStatisticStep(0)
            .executor(executor)
            .build()) {
      CompletableFuture.allOf(
              IntStream.range(0, threads)
                  .mapToObj(
                      thread ->
                          CompletableFuture.runAsync(
                              () -> warmUp(pool, step), task -> new Thread(task).start()))
                  .toArray(CompletableFuture<?>[]::new))
          .join();
      return pool.poolStats().arenaBytes();
    }
  }

  private static void warmUp(TensorPoolAllocator pool, Step step) {
    Tensors tensors = new Tensors.Handles(pool);
    Touch touch = new Touch(tensors, step);
    for (int i = 0; i < MOST_WARM_UP_STEPS && !pool.isPooling(); i++) {
      Pools.runStep(pool, step, tensors, touch);
    }
    if (!pool.isPooling()) {
      throw new AssertionError("no plan yet\n" + pool.dumpStats());
    }
    for (int i = 0; i < STEADY_STEPS; i++) {
      Pools.runStep(pool, step, tensors, touch);
    }
  }
}
