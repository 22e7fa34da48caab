package io.prmalloc.jmh.rival;

import io.prmalloc.lifetime.ScopedMemoryCollector;
import io.prmalloc.trace.replay.Touch;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Lets an allocator learn: as many threads as will be measured run the step, all at the same time,
 * until the allocator is warm. One that learns nothing is warm at once.
 *
 * <p>Threading: for one use by one thread.
 */
public final class WarmUp {

  /** An allocator that has not learned by then finds nothing to learn in this step. */
  private static final int MAX_STEPS = 200;

  private final Strategy strategy;
  private final Step step;
  private final CyclicBarrier barrier;
  private volatile boolean done;

  private WarmUp(Strategy strategy, Step step, int threads) {
    this.strategy = strategy;
    this.step = step;
    this.barrier = new CyclicBarrier(threads, () -> done = strategy.isWarm());
  }

  /**
   * Runs the warm-up.
   *
   * @throws IllegalStateException if the allocator fails
   */
  public static void run(Strategy strategy, Step step, int threads) {
    if (strategy.isWarm()) {
      return;
    }
    WarmUp warmUp = new WarmUp(strategy, step, threads);
    ExecutorService executor = Executors.newFixedThreadPool(threads);
    try {
      // In the order of completion: a thread that fails leaves the others at the barrier.
      var completions = new ExecutorCompletionService<Void>(executor);
      for (int thread = 0; thread < threads; thread++) {
        completions.submit(warmUp::learn);
      }
      for (int thread = 0; thread < threads; thread++) {
        completions.take().get();
      }
    } catch (ExecutionException e) {
      throw new IllegalStateException("the warm-up failed", e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("the warm-up was interrupted", e);
    } finally {
      executor.shutdownNow();
    }
  }

  // All scopes are open before any thread runs the step, and until all have run it, so that the
  // planner sees that they overlap, whatever the scheduler does.
  private Void learn() throws InterruptedException, BrokenBarrierException {
    Lane lane = strategy.lane(step, Touch.FIRST);
    for (int i = 0; i < MAX_STEPS && !done; i++) {
      try (ScopedMemoryCollector scope = strategy.openStep()) {
        barrier.await();
        step.replay(lane, scope, i);
        barrier.await();
      }
      barrier.await();
    }
    return null;
  }
}
