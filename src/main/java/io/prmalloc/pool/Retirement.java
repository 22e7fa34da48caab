package io.prmalloc.pool;

/** The part of a pool's close that may find that it is not the time. */
final class Retirement {

  private Retirement() {}

  /**
   * Makes sure that nothing is out and nothing can be taken; else leaves everything as it was.
   *
   * <p>Threading: under the pool's lifecycle lock.
   *
   * @param bins the plan that serves, or null
   * @return whether it could
   */
  static boolean tryAll(PlannedSteps steps, SmallBlocks small, BinTable bins, LiveHeap outside) {
    int retired = 0;
    boolean all = false;
    // What is thrown on the way undoes what was done so far, as what is in use does.
    try {
      if (!steps.retire()) {
        return false;
      }
      retired++;
      if (!small.retire()) {
        return false;
      }
      retired++;
      if (bins != null && !bins.retire()) {
        return false;
      }
      retired++;
      all = outside.close();
      return all;
    } finally {
      if (!all) {
        reopen(retired, steps, small, bins);
      }
    }
  }

  private static void reopen(int retired, PlannedSteps steps, SmallBlocks small, BinTable bins) {
    if (retired > 2 && bins != null) {
      bins.reopen();
    }
    if (retired > 1) {
      small.reopen();
    }
    if (retired > 0) {
      steps.reopen();
    }
  }
}
