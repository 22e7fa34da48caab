package io.prmalloc.plan.exact;

/**
 * Chooses the capacity that a thread tries next, and for how many steps.
 *
 * <p>Threading: one thread; the incumbent may change meanwhile.
 */
final class Targets {

  // Most plans reach the lower bound, and where one does it is often no harder to find than a worse
  // one. So that is tried first. An attempt that is given up is followed by one with more room:
  // some part of the way from the bound to the best plan, in turn. After a better plan was found
  // the turn begins again. With a goal there is one capacity only: the goal.
  //
  // Attempts take 1, 1, 2, 1, 1, 2, 4, 1, … times a base of steps (Luby, Sinclair, Zuckerman 1993):
  // whatever is the best length for an instance, that costs little more than knowing it. Where
  // nothing is to be found, the long ones come to an end at last and prove it. Most plans are found
  // with hardly a step back or not for long, so the base is a step per tensor and few to spare; of
  // thousands of tensors some always need a step back.

  private static final int BOUND_EVERY = 3;
  private static final double HALF = 0.5;
  private static final double LOWER = 0.3;
  private static final double CLOSE = 0.97;
  private static final int SPARE_STEPS = 200;
  private static final int FEW_TENSORS = 2000;

  private final Problem problem;
  private final Incumbent incumbent;
  private final boolean restarts;
  private final long base;
  private int turn;
  private double part;
  private long attempts;
  private long bestSeen = Long.MAX_VALUE;

  /**
   * Nothing was tried.
   *
   * @param turn the bound is tried when the turn is a multiple of three; from 0
   * @param restarts whether attempts are given up at all
   */
  Targets(Problem problem, Incumbent incumbent, int turn, boolean restarts) {
    this.problem = problem;
    this.incumbent = incumbent;
    this.turn = turn;
    this.restarts = restarts;
    long count = problem.count();
    base = count + (count < FEW_TENSORS ? SPARE_STEPS : count);
  }

  /** The capacity of the next attempt, from the lower bound to below the best plan. */
  long nextCapacity() {
    long low = Math.max(incumbent.lowerBound(), incumbent.goal());
    long best = incumbent.total();
    long step = problem.step();
    if (incumbent.goal() >= 0 || best == Long.MAX_VALUE || best - low <= step) {
      return low;
    }
    if (turn++ % BOUND_EVERY == 0) {
      return low;
    }
    if (best < bestSeen) {
      bestSeen = best;
      part = HALF;
    } else {
      part = part > CLOSE ? LOWER : (1 + part) / 2;
    }
    long capacity = low + (long) ((best - low) * part) / step * step;
    return Math.min(capacity, best - step);
  }

  /** How many steps the next attempt may take. */
  long nextSteps() {
    attempts++;
    return restarts ? base * luby(attempts) : Long.MAX_VALUE;
  }

  private static long luby(long index) {
    // The sequence up to 2^k − 1 ends with 2^(k − 1), and repeats what it was before that.
    while (true) {
      long power = Long.highestOneBit(index + 1);
      if (power == index + 1) {
        return power / 2;
      }
      index -= power - 1;
    }
  }
}
