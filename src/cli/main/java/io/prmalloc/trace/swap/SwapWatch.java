package io.prmalloc.trace.swap;

/**
 * Watches how a choice of feature maps goes, and may end it.
 *
 * <p>Threading: called by the thread that chooses.
 */
@FunctionalInterface
public interface SwapWatch {

  /** No watcher. */
  SwapWatch NOBODY = (present, simulations) -> true;

  /**
   * Is called before each simulation of a choice, and in between, so that it never takes longer
   * than a simulation to end.
   *
   * <p>Threading: the thread that chooses.
   *
   * @param present the step with the maps that are chosen so far
   * @param simulations how many there were, from 1
   * @return whether to go on; if not, the best choice so far is the answer
   */
  boolean goOn(SwapRun present, long simulations);
}
