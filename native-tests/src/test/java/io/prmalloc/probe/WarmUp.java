package io.prmalloc.probe;

import io.prmalloc.lifetime.MemoryPlannerFactory;
import io.prmalloc.pool.TensorPoolAllocator;
import java.util.concurrent.Executor;

/**
 * A server's life from start to steady state, in a JVM of its own because the kernel keeps one peak
 * per process. Says three numbers of bytes: the peak of the JVM with all classes loaded, the pool's
 * arena, and the peak at the end.
 *
 * <p>Threading: one thread.
 */
final class WarmUp {

  /** Enough for a background planner to come to its end, too. */
  private static final int MOST_WARM_UP_STEPS = 200;

  private static final int STEADY_STEPS = 10;

  private WarmUp() {}

  /**
   * Runs it.
   *
   * @param arguments where memory comes from, and whether to plan in the background
   */
  public static void main(String[] arguments) {
    Source source = Source.valueOf(arguments[0]);
    Executor executor =
        Boolean.parseBoolean(arguments[1])
            ? MemoryPlannerFactory.newPlannerExecutor()
            : Runnable::run;
    run(source, executor, Step.of(12, 20, 64 << 10));
    long jvm = Probe.probe_peak_resident_bytes();
    // Tensors of up to 4 MiB, 220 MiB at a time: sizes that the C library likes to keep.
    long pool = run(source, executor, Step.mirrored(11, 500, 4 << 20));
    System.out.println(jvm + " " + pool + " " + Probe.probe_peak_resident_bytes());
  }

  /** Returns the bytes of the arena. */
  private static long run(Source source, Executor executor, Step step) {
    try (TensorPoolAllocator pool =
        TensorPoolAllocator.builder()
            .subAllocator(source.open())
            .startStatisticStep(0)
            .executor(executor)
            .build()) {
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
      return pool.poolStats().arenaBytes();
    }
  }
}
