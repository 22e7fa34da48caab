package io.prmalloc.pool.race;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.prmalloc.Allocation;
import io.prmalloc.MmapOptions;
import io.prmalloc.SubAllocator;
import io.prmalloc.internal.os.OperatingSystem;
import io.prmalloc.lifetime.ScopedMemoryCollector;
import io.prmalloc.pool.TensorPoolAllocator;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Threads whose steps free their tensors within the step, and which together use much less than a
 * limit, while plans come and go. No request is refused. In short form; the profile {@code proof}
 * runs it for as long as it is told.
 */
class LimitedPoolStressTest {

  private static final int STEPS = 1000;
  private static final int SECONDS = Integer.getInteger("proof.stress.seconds", 0);
  private static final long SEED =
      Long.getLong("proof.stress.seed", SECONDS == 0 ? 2 : System.nanoTime());

  private static final int THREADS = 2;
  private static final int MODELS = 6;
  private static final int LIMIT_BYTES = 16 << 20;
  private static final int LIVE_BYTES = 3 << 20;

  /** Sizes of the requests of each model, in order. */
  private static int[][] models(SplittableRandom random) {
    int[][] models = new int[MODELS][];
    for (int model = 0; model < MODELS; model++) {
      models[model] = new int[10 + random.nextInt(30)];
      for (int i = 0; i < models[model].length; i++) {
        int most = random.nextInt(3) == 0 ? 900_000 : 200_000;
        models[model][i] = 33_000 + random.nextInt(most);
      }
    }
    return models;
  }

  @Test
  @Timeout(3600) // interrupts the steps
  void shouldRefuseNothingWhenMuchLessThanTheLimitIsInUse() throws Exception {
    assumeTrue(OperatingSystem.callsNativeSilently(), "native calls do not work here");
    SubAllocator limited = SubAllocator.mmap(MmapOptions.DEFAULT.withLimitBytes(LIMIT_BYTES));
    TensorPoolAllocator pool =
        TensorPoolAllocator.builder()
            .subAllocator(limited)
            .startStatisticStep(20)
            .stepPlanningTime(Duration.ofMillis(20))
            .shrinkAfter(Duration.ofMillis(300))
            .stepArenaIdle(Duration.ofMillis(300))
            .build();
    long start = System.nanoTime();
    int[][] models = models(new SplittableRandom(SEED));
    ExecutorService executor = Executors.newFixedThreadPool(THREADS);
    try {
      List<Future<?>> all = new ArrayList<>();
      for (int thread = 0; thread < THREADS; thread++) {
        SplittableRandom random = new SplittableRandom(SEED + thread);
        all.add(executor.submit(() -> steps(pool, models, random, start)));
      }
      for (Future<?> each : all) {
        each.get();
      }
    } catch (Exception e) {
      throw new AssertionError("seed " + SEED + ", " + pool.dumpStats(), e);
    } finally {
      executor.shutdownNow();
    }
    assertEquals(0, pool.stats().bytesInUse());
    pool.close();
    assertEquals(0, limited.bytesReserved());
  }

  private static void steps(
      TensorPoolAllocator pool, int[][] models, SplittableRandom random, long start) {
    int usual = 0;
    for (int i = 0;
        i < STEPS || System.nanoTime() - start < TimeUnit.SECONDS.toNanos(SECONDS);
        i++) {
      assertFalse(Thread.currentThread().isInterrupted(), "it takes too long");
      usual = random.nextInt(100) == 0 ? random.nextInt(MODELS) : usual;
      int model = random.nextInt(4) == 0 ? random.nextInt(MODELS) : usual;
      step(pool, model, models[model], random);
    }
  }

  /** Every other model varies its sizes; every third has no key, or asks the pool. */
  private static void step(
      TensorPoolAllocator pool, int model, int[] sizes, SplittableRandom random) {
    double factor = model % 2 == 0 ? 1 : 0.3 + 0.7 * random.nextDouble();
    boolean explicit = model % 3 == 0 || model == MODELS - 1;
    Deque<Allocation> out = new ArrayDeque<>();
    long live = 0;
    try (ScopedMemoryCollector step = pool.collect(model % 3 == 1 ? null : "model " + model)) {
      for (int size : sizes) {
        long bytes = (long) (size * factor);
        while (live + bytes > LIVE_BYTES) {
          live -= out.element().sizeBytes();
          out.remove().close();
        }
        Allocation taken = explicit ? step.allocate(bytes) : pool.allocate(bytes);
        taken.byteBuffer().putLong(0, bytes);
        out.add(taken);
        live += bytes;
      }
    } finally {
      out.forEach(Allocation::close);
    }
  }
}
