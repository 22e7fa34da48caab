package io.prmalloc.plan.heuristic;

/**
 * Is told of the progress of a search, and may end it.
 *
 * <p>Threading: called by the thread that searches.
 */
public interface SearchWatch {

  /** Is not interested. */
  SearchWatch NONE = (bestBytes, done) -> true;

  /**
   * Is called after the start and then after every try or so.
   *
   * @param bestBytes the best total so far
   * @param done how much of the time or the tries is used up, from 0 to 1
   * @return whether to go on; if not, the best so far is the answer
   */
  boolean goOn(long bestBytes, double done);
}
