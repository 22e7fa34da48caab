package io.prmalloc.internal.freelist;

import io.prmalloc.internal.block.Stripes;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The initial partition of a plan's blocks: one part for each stripe as its threads come, and the
 * remaining parts for stripes that need more.
 *
 * <p>Threading: any thread; each part is given once.
 */
final class InitialPartition {

  /** More than any number. */
  static final int NONE = Integer.MAX_VALUE;

  private final int count;
  private final AtomicInteger given = new AtomicInteger();

  /** By stripe, whether it was given one. Plain: threads of one stripe may get one each. */
  private final boolean[] has;

  /**
   * @param count how many there are
   */
  InitialPartition(int count, Stripes stripes) {
    this.count = count;
    has = new boolean[stripes.count()];
  }

  int count() {
    return count;
  }

  /**
   * The number of the share that a stripe gets now, from 0, or {@link #NONE} if there is none for
   * it.
   *
   * @param further whether it may get one more than its first
   */
  int next(int stripe, boolean further) {
    // Checked first, so that the number does not overflow.
    if ((has[stripe] && !further) || given.get() >= count) {
      return NONE;
    }
    has[stripe] = true;
    int share = given.getAndIncrement();
    return share < count ? share : NONE;
  }
}
