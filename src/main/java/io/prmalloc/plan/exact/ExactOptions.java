package io.prmalloc.plan.exact;

import io.prmalloc.internal.block.Requests;
import java.time.Duration;
import java.util.Collection;
import java.util.EnumSet;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/**
 * How an {@link ExactPlanner} searches.
 *
 * <p>Threading: immutable.
 *
 * @param timeout when to stop with the best plan so far; empty to go on until it is proven that
 *     there is no better one, which may take for ever
 * @param threads how many threads search, from 1; with one, and a limit by {@code maxSearchSteps}
 *     or none, the same input has the same plan each time
 * @param seed of everything that is drawn by chance
 * @param maxSearchSteps how many steps each thread may search, from 1; a limit that does not depend
 *     on the machine
 * @param techniques what it makes use of
 */
public record ExactOptions(
    Optional<Duration> timeout,
    int threads,
    long seed,
    long maxSearchSteps,
    Set<Technique> techniques) {

  /** The most threads there can be. */
  public static final int MAX_THREADS = 256;

  /** No time limit, up to two threads, every technique. */
  public static final ExactOptions DEFAULTS =
      new ExactOptions(
          Optional.empty(),
          Math.min(2, Runtime.getRuntime().availableProcessors()),
          1,
          Long.MAX_VALUE,
          EnumSet.allOf(Technique.class));

  /**
   * Threading: any thread.
   *
   * @throws IllegalArgumentException if a value is out of its bounds
   */
  public ExactOptions {
    Objects.requireNonNull(timeout, "timeout");
    timeout = timeout.map(limit -> Requests.moreThanZero("timeout", limit));
    if (threads < 1 || threads > MAX_THREADS) {
      throw new IllegalArgumentException(
          "threads " + threads + " are not from 1 to " + MAX_THREADS);
    }
    if (maxSearchSteps < 1) {
      throw new IllegalArgumentException("search steps " + maxSearchSteps + " are less than 1");
    }
    techniques = Set.copyOf(techniques);
  }

  /** The same with a time limit. Threading: any thread. */
  public ExactOptions withTimeout(Duration limit) {
    return new ExactOptions(Optional.of(limit), threads, seed, maxSearchSteps, techniques);
  }

  /** The same with another number of threads. Threading: any thread. */
  public ExactOptions withThreads(int count) {
    return new ExactOptions(timeout, count, seed, maxSearchSteps, techniques);
  }

  /** The same with another seed. Threading: any thread. */
  public ExactOptions withSeed(long other) {
    return new ExactOptions(timeout, threads, other, maxSearchSteps, techniques);
  }

  /** The same with a limit of steps. Threading: any thread. */
  public ExactOptions withMaxSearchSteps(long steps) {
    return new ExactOptions(timeout, threads, seed, steps, techniques);
  }

  /** The same with these techniques and no others. Threading: any thread. */
  public ExactOptions withTechniques(Collection<Technique> some) {
    return new ExactOptions(timeout, threads, seed, maxSearchSteps, Set.copyOf(some));
  }

  boolean uses(Technique technique) {
    return techniques.contains(technique);
  }
}
