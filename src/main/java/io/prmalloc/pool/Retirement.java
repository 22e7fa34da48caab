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
    if (!steps.retire()) {
      return false;
    }
    if (!small.retire()) {
      steps.reopen();
      return false;
    }
    if (bins == null || bins.retire()) {
      if (outside.close()) {
        return true;
      }
      if (bins != null) {
        bins.reopen();
      }
    }
    small.reopen();
    steps.reopen();
    return false;
  }
}
