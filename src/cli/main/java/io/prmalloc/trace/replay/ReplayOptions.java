package io.prmalloc.trace.replay;

import io.prmalloc.trace.replay.lane.Api;
import io.prmalloc.trace.replay.lane.Memory;
import io.prmalloc.trace.replay.lane.PoolSetup;
import java.util.Objects;
import java.util.OptionalInt;

/**
 * How a trace is replayed.
 *
 * <p>Threading: immutable.
 *
 * @param steps measured steps of each thread, from 1
 * @param warmupSteps the most steps of each thread in which the pool learns, from 1; the plan is
 *     made by then. Empty: as many as it takes, at most {@link #MAX_LEARNING_STEPS}
 * @param threads how many threads run steps at the same time, from 1 to {@link #MAX_THREADS}
 * @param touch how much of each tensor is written
 * @param api through which face of our allocators
 * @param memory where our allocators take their memory from
 * @param pool what the pool is told
 */
public record ReplayOptions(
    int steps,
    OptionalInt warmupSteps,
    int threads,
    Touch touch,
    Api api,
    Memory memory,
    PoolSetup pool) {

  /** The most steps of each thread for which the pool is waited for when no number is given. */
  public static final int MAX_LEARNING_STEPS = 300;

  /** The most steps of each thread that are measured when no number is given. */
  public static final int MAX_DEFAULT_STEPS = 1000;

  /** The least of them, however long a step is. */
  public static final int MIN_DEFAULT_STEPS = 10;

  /** How many events they have together at most, between those two. */
  public static final int DEFAULT_EVENTS = 20_000_000;

  /** The most threads. */
  public static final int MAX_THREADS = 1024;

  /** 1000 steps of one thread, first bytes touched, raw addresses, direct buffers. */
  public static final ReplayOptions DEFAULT =
      new ReplayOptions(
          MAX_DEFAULT_STEPS,
          OptionalInt.empty(),
          1,
          Touch.FIRST,
          Api.RAW,
          Memory.DIRECT,
          PoolSetup.DEFAULT);

  /**
   * Threading: any thread.
   *
   * @throws IllegalArgumentException if a number is out of its bounds
   */
  public ReplayOptions {
    Objects.requireNonNull(touch, "touch");
    Objects.requireNonNull(api, "api");
    Objects.requireNonNull(memory, "memory");
    Objects.requireNonNull(pool, "pool");
    checkAtLeastOne("steps", steps);
    warmupSteps.ifPresent(value -> checkAtLeastOne("warmup-steps", value));
    checkAtLeastOne("threads", threads);
    if (threads > MAX_THREADS) {
      throw new IllegalArgumentException("threads " + threads + " exceeds " + MAX_THREADS);
    }
  }

  /**
   * How many steps to measure when no number is given: {@value #MAX_DEFAULT_STEPS}, but of long
   * steps only as many as have {@link #DEFAULT_EVENTS} events together, and {@value
   * #MIN_DEFAULT_STEPS} at least. A step of a million events takes a tenth of a second: a thousand
   * would take minutes and tell no more.
   *
   * <p>Threading: any thread.
   *
   * @param eventsPerStep of the longest step, from 0
   */
  public static int defaultSteps(int eventsPerStep) {
    int steps = DEFAULT_EVENTS / Math.max(1, eventsPerStep);
    return Math.max(MIN_DEFAULT_STEPS, Math.min(MAX_DEFAULT_STEPS, steps));
  }

  private static void checkAtLeastOne(String name, int value) {
    if (value < 1) {
      throw new IllegalArgumentException(name + " " + value + " is out of bounds; the least is 1");
    }
  }

  /** The most steps of each thread in which the pool learns. Threading: any thread. */
  int maxLearningSteps() {
    return warmupSteps.orElse(MAX_LEARNING_STEPS);
  }

  /** These options with other numbers of steps. Threading: any thread. */
  public ReplayOptions withSteps(int value) {
    return new ReplayOptions(value, warmupSteps, threads, touch, api, memory, pool);
  }

  /** These options with another bound on warm-up. Threading: any thread. */
  public ReplayOptions withWarmupSteps(int value) {
    return new ReplayOptions(steps, OptionalInt.of(value), threads, touch, api, memory, pool);
  }

  /** These options with another number of threads. Threading: any thread. */
  public ReplayOptions withThreads(int value) {
    return new ReplayOptions(steps, warmupSteps, value, touch, api, memory, pool);
  }

  /** These options with another way to touch. Threading: any thread. */
  public ReplayOptions withTouch(Touch value) {
    return new ReplayOptions(steps, warmupSteps, threads, value, api, memory, pool);
  }

  /** These options with another face of our allocators. Threading: any thread. */
  public ReplayOptions withApi(Api value) {
    return new ReplayOptions(steps, warmupSteps, threads, touch, value, memory, pool);
  }

  /** These options with other memory. Threading: any thread. */
  public ReplayOptions withMemory(Memory value) {
    return new ReplayOptions(steps, warmupSteps, threads, touch, api, value, pool);
  }

  /** These options with something else told to the pool. Threading: any thread. */
  public ReplayOptions withPool(PoolSetup value) {
    return new ReplayOptions(steps, warmupSteps, threads, touch, api, memory, value);
  }
}
