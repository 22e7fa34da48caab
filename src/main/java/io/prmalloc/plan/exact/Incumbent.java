package io.prmalloc.plan.exact;

/**
 * The best plan so far and the lower bound, shared by all threads that search; also says when they
 * are to stop.
 *
 * <p>Threading: safe.
 */
final class Incumbent {

  private final Problem problem;
  private final PlanWatcher watcher;
  private final long goal;
  private final boolean hasDeadline;
  private final long deadline;
  // Written under the lock; reads without it may be late.
  private volatile long total = Long.MAX_VALUE;
  private volatile long lowerBound;
  private volatile boolean over;
  private long[] best = {};
  private boolean hasPlan;

  /**
   * There is no plan yet.
   *
   * @param goal a plan of at most that is good enough; −1 if the smallest is wanted
   * @param nanos how long there is from now; 0 for ever
   */
  Incumbent(Problem problem, PlanWatcher watcher, long goal, long nanos) {
    this.problem = problem;
    this.watcher = watcher;
    this.goal = goal;
    hasDeadline = nanos > 0;
    deadline = System.nanoTime() + nanos;
    lowerBound = problem.lowerBound();
  }

  /**
   * A plan somebody found.
   *
   * @param offsets copied if it is better than all before
   */
  void offer(long[] offsets) {
    long offered = problem.total(offsets);
    if (offered >= total) {
      return;
    }
    synchronized (this) {
      if (offered < total) {
        best = offsets.clone();
        total = offered;
        hasPlan = true;
        changed();
      }
    }
  }

  /** It is proven that no plan is smaller. */
  void raiseLowerBound(long bytes) {
    synchronized (this) {
      long bound = Math.min(bytes, total);
      if (bound > lowerBound) {
        lowerBound = bound;
        changed();
      }
    }
  }

  private void changed() {
    boolean isDecided = goal >= 0 && (total <= goal || lowerBound > goal);
    if (hasPlan && (total <= lowerBound || isDecided)) {
      over = true;
    }
    if (hasPlan) {
      watcher.improved(plan());
    }
  }

  /** The best plan; there must be one. */
  synchronized ExactPlan plan() {
    return new ExactPlan(problem.plan(best), Math.min(lowerBound, total));
  }

  /** The total of the best plan; the largest long if there is none yet. */
  long total() {
    return total;
  }

  long lowerBound() {
    return lowerBound;
  }

  /** What is good enough; −1 if only the smallest is. */
  long goal() {
    return goal;
  }

  /** Ends all searches. */
  void end() {
    over = true;
  }

  /** Whether searches are to end. Cheap enough for every thousandth step. */
  boolean isOver() {
    if (!over
        && ((hasDeadline && System.nanoTime() - deadline >= 0)
            || watcher.isCancelled()
            || Thread.currentThread().isInterrupted())) {
      over = true;
    }
    return over;
  }
}
