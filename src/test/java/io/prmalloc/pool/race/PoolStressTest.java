package io.prmalloc.pool.race;

import io.prmalloc.pool.Threads;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** {@link PoolStress} in short form; the profile {@code proof} runs for as long as it is told. */
class PoolStressTest {

  private static final int STEPS = 150;
  private static final int SECONDS = Integer.getInteger("proof.stress.seconds", 0);

  /** Another one for every long run, unless it is given. */
  private static final long SEED =
      Long.getLong("proof.stress.seed", SECONDS == 0 ? 2024 : System.nanoTime());

  private static void run(ExecutorService executor, int threads) throws Exception {
    long start = System.nanoTime();
    new PoolStress(SEED)
        .run(
            executor,
            threads,
            steps ->
                steps >= STEPS && System.nanoTime() - start >= TimeUnit.SECONDS.toNanos(SECONDS));
  }

  @Test
  void shouldLoseAndOverlapNothingWhenEightThreadsShareThePool() throws Exception {
    run(Executors.newFixedThreadPool(8), 8);
  }

  @Test
  void shouldLoseAndOverlapNothingWhenVirtualThreadsShareThePool() throws Exception {
    run(Threads.virtual(), 32);
  }
}
