package io.prmalloc.internal.planner.index;

/**
 * What is free beside the placed tensors: finds the smallest gap for a life and a size.
 *
 * <p>Threading: not safe.
 */
public interface OffsetIndex {

  /** Makes an index in which nothing is placed. */
  @FunctionalInterface
  interface Factory {

    /**
     * Threading: any thread.
     *
     * @param least the smallest size that will be asked for, from 1
     */
    OffsetIndex create(Lives lives, long least);
  }

  /**
   * Where a tensor fits best: at the start of the smallest gap between the placed tensors alive
   * with it that has room, the lowest of equals, or behind all of them.
   *
   * @param size how much it fills, at least the least size
   */
  long find(int tensor, long size);

  /** Places a tensor; nothing alive with it lies there. */
  void occupy(int tensor, long offset, long size);

  /** Whether this input is of a kind that makes this index slow, so that another should go on. */
  default boolean isOverwhelmed() {
    return false;
  }
}
