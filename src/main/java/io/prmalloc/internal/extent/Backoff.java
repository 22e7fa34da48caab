package io.prmalloc.internal.extent;

/**
 * How long memory of a plan that was given back for a request is not reserved again: the usual
 * exponential backoff.
 *
 * <p>Threading: any thread.
 */
public final class Backoff {

  // Where a limit has no room for all, a plan and the requests beside it would take the same memory
  // from each other repeatedly, and each time costs system calls and page faults. So each time the
  // plan waits for twice as many occasions, unless the memory was of use before it was taken.

  /** With so many uses memory was worth its reservation; twice as many at each level. */
  private static final int WORTH_USES = 256;

  private static final int MAX_LEVEL = 16;

  private int level;
  private long uses;
  private volatile long left;

  /** There is an occasion to reserve memory; whether to do so. */
  public boolean isOver() {
    return left == 0 || count();
  }

  private synchronized boolean count() {
    left = Math.max(0, left - 1);
    return false;
  }

  /** Whether {@link #isOver} would say no. */
  public boolean isWaiting() {
    return left > 0;
  }

  /** Memory that was reserved was of use so often. */
  public synchronized void used(long times) {
    uses += Math.max(0, times);
  }

  /** Memory was refused, or was given back for a request. */
  public synchronized void refused() {
    boolean worth = uses >= (long) WORTH_USES << level;
    level = worth ? Math.max(0, level - 1) : Math.min(MAX_LEVEL, level + 1);
    // None the first time.
    left = level == 0 ? 0 : (1L << (level - 1)) - 1;
    uses = 0;
  }
}
