package io.prmalloc.internal.planner.index;

import java.util.Collections;
import java.util.List;

/**
 * Which tensors may follow which in the same object.
 *
 * <p>Threading: immutable.
 *
 * @param followers for each tensor the tensors that may follow it, ascending
 */
public record ReallocationGraph(List<List<Integer>> followers) {

  /**
   * Threading: any thread.
   *
   * @throws IllegalArgumentException if a list names a tensor that is not there, or does not ascend
   */
  public ReallocationGraph {
    followers = followers.stream().map(List::copyOf).toList();
    for (int tensor = 0; tensor < followers.size(); tensor++) {
      int before = -1;
      for (int follower : followers.get(tensor)) {
        if (follower >= followers.size() || follower < 0) {
          throw new IllegalArgumentException(
              "tensor "
                  + follower
                  + " may follow tensor "
                  + tensor
                  + ", but there are "
                  + followers.size());
        }
        if (follower <= before) {
          throw new IllegalArgumentException(
              "the tensors that may follow tensor " + tensor + " do not ascend at " + follower);
        }
        before = follower;
      }
    }
  }

  /**
   * Whether a tensor may take the object that another had last. O(log n).
   *
   * <p>Threading: any thread.
   *
   * @throws IndexOutOfBoundsException if there is no tensor {@code before}
   */
  public boolean mayFollow(int before, int after) {
    return Collections.binarySearch(followers.get(before), after) >= 0;
  }

  public void checkTensorCount(int tensors) {
    if (followers.size() != tensors) {
      throw new IllegalArgumentException(
          "the reallocation graph is for "
              + followers.size()
              + " tensors, but there are "
              + tensors);
    }
  }
}
