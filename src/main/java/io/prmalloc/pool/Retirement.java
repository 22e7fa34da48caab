package io.prmalloc.pool;

import java.util.function.BooleanSupplier;

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
    return steps.retire()
        && tryOrUndo(
            () ->
                small.retire()
                    && tryOrUndo(
                        () ->
                            (bins == null || bins.retire())
                                && tryOrUndo(outside::close, () -> reopen(bins)),
                        small::reopen),
            steps::reopen);
  }

  private static void reopen(BinTable bins) {
    if (bins != null) {
      bins.reopen();
    }
  }

  /** Undoes what was done before if something is not to be done, or fails. */
  private static boolean tryOrUndo(BooleanSupplier next, Runnable undo) {
    boolean done = false;
    try {
      done = next.getAsBoolean();
    } finally {
      if (!done) {
        undo.run();
      }
    }
    return done;
  }
}
