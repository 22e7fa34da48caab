package io.prmalloc.pool;

/**
 * Makes blocks that other threads closed a stripe's own, by whichever of two ways takes less on
 * this machine just now.
 *
 * <p>Threading: any thread. Of two at one moment one's measurement may be lost.
 */
final class LineFetch {

  // Whoever closed the blocks has their cache lines, and to mark a block is to wait for its line.
  // So there are two ways: to mark one after the other; or first to write to each, which waits for
  // nothing, so that the lines come side by side, and then to mark them. Which takes less depends
  // on how far the processors are from each other, how many writes they let wait, and what the
  // other thread does meanwhile: on one machine 12 ns a block one after the other and 18 side by
  // side, and where a line travels for a long time it is the other way round. It changes by the
  // minute where the machine is a guest that is moved about. So one fetch of sixteen is timed, by
  // each way in turn, and the others go by the way that took less.

  /** Of so many fetches one is timed. */
  static final int TRIAL_EVERY = 16;

  /**
   * What is timed has so many blocks: for fewer, to look at the clock is what would be measured.
   */
  static final int FEWEST_IN_TRIAL = 8;

  /** Time is kept in this part of a nanosecond. */
  private static final int FRACTION_BITS = 4;

  /** By so much of itself a time follows those that are measured. */
  private static final int FOLLOW_SHIFT = 3;

  private int fetches;
  private boolean lastTrialSideBySide;

  /** Median time for a block, or nearly; 0 before the first. */
  private long nanosSideBySide;

  private long nanosInTurn;

  /**
   * Marks blocks for the holder of a stripe, if that is the calling thread. If it is not, nobody
   * waits for their cache lines, and they are at most written to. What turns out to be out is no
   * longer noted.
   *
   * @param some their bits in the word
   */
  void fetch(StripeHold hold, ReadyWord word, long some) {
    int count = Long.bitCount(some);
    if (count >= FEWEST_IN_TRIAL && hold.isMine() && ++fetches % TRIAL_EVERY == 0) {
      boolean sideBySide = nextTrial();
      long start = System.nanoTime();
      fetch(hold, word, some, sideBySide);
      took(sideBySide, System.nanoTime() - start, count);
    } else {
      fetch(hold, word, some, isSideBySide());
    }
  }

  private static void fetch(StripeHold hold, ReadyWord word, long some, boolean sideBySide) {
    for (long left = sideBySide ? some : 0; left != 0; left &= left - 1) {
      word.block(left).touch();
    }
    for (long left = some; left != 0; left &= left - 1) {
      if (!hold.mark(word.block(left), word)) {
        // Noted, and out: a request that came upon it would have to go the slow way.
        word.remove(left);
      }
    }
  }

  /** Whether the next fetch that is timed goes side by side: each second does. */
  boolean nextTrial() {
    lastTrialSideBySide = !lastTrialSideBySide;
    return lastTrialSideBySide;
  }

  /** Tells what a fetch took. */
  void took(boolean sideBySide, long nanos, int count) {
    long each = Math.max(1, (nanos << FRACTION_BITS) / count);
    if (sideBySide) {
      nanosSideBySide = follow(nanosSideBySide, each);
    } else {
      nanosInTurn = follow(nanosInTurn, each);
    }
  }

  /**
   * A step towards what was measured, whose length does not depend on that: so it comes to rest at
   * the median, and a thread that lost the processor in the middle counts no more than another.
   */
  private static long follow(long median, long measured) {
    if (median == 0) {
      return measured;
    }
    long step = Math.max(1, median >> FOLLOW_SHIFT);
    return measured > median ? median + step : Math.max(1, median - step);
  }

  /** Whether side by side took less, or nothing is known yet. */
  boolean isSideBySide() {
    return nanosInTurn == 0 || nanosSideBySide < nanosInTurn;
  }
}
