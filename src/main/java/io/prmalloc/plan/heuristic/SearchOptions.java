package io.prmalloc.plan.heuristic;

import io.prmalloc.internal.block.Requests;
import java.time.Duration;
import java.util.Locale;

/**
 * The settings of a search for a better order.
 *
 * <p>Threading: immutable.
 *
 * @param kind by which search
 * @param seed of all that is left to chance: with the same seed and tries, and time enough, the
 *     answer is the same
 * @param timeLimit after which the best order found is the answer, more than 0; more than a hundred
 *     years are taken for a hundred
 * @param maxTries after how many orders the search ends in any case, from 1; the fixed orders at
 *     the start do not count
 */
public record SearchOptions(Kind kind, long seed, Duration timeLimit, long maxTries) {

  /**
   * The searches there are.
   *
   * <p>Threading: immutable.
   */
  public enum Kind {
    /** Two tensors change places; what is not worse is kept. */
    SWAPS,
    /** Several change places, fewer as it gets colder; what is worse is kept now and then. */
    ANNEALING;

    /** Its name on the command line: {@code swaps}, {@code annealing}. Threading: any thread. */
    public String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /**
   * Threading: any thread.
   *
   * @throws IllegalArgumentException if the time or the tries are out of their bounds
   */
  public SearchOptions {
    timeLimit = Requests.moreThanZero("time limit", timeLimit);
    if (maxTries < 1) {
      throw new IllegalArgumentException("tries " + maxTries + " are less than 1");
    }
  }
}
