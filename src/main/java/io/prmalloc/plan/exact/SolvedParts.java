package io.prmalloc.plan.exact;

import java.util.HashMap;
import java.util.Map;

/**
 * Plans of parts that a search has cut off and placed, as many as there is place for.
 *
 * <p>Threading: not safe.
 */
final class SolvedParts {

  // Parts are told apart as in FailedStates. A plan is the order of placing: each tensor of it lies
  // on its floor. When all place is taken it begins anew.

  /** No plan. */
  static final int[] UNKNOWN = {};

  static final int MAX_TENSORS = 1 << 20;

  private record Part(long one, long other) {}

  private final Map<Part, int[]> plans = new HashMap<>();
  private int tensors;

  /**
   * In which order to place the tensors of a part; {@link #UNKNOWN} if there is no plan.
   *
   * @param one the first half of the hash of its state
   * @param other the second half
   */
  int[] get(long one, long other) {
    return plans.getOrDefault(new Part(one, other), UNKNOWN);
  }

  void put(long one, long other, int[] order) {
    tensors += order.length;
    if (tensors > MAX_TENSORS) {
      plans.clear();
      tensors = order.length;
    }
    plans.put(new Part(one, other), order);
  }
}
