package io.prmalloc.plan;

import io.prmalloc.internal.planner.ConstrainedProblem;
import io.prmalloc.internal.planner.index.Lives;
import java.util.Arrays;
import java.util.List;

/**
 * Lower bounds on the bytes that any plan needs.
 *
 * <p>Threading: any thread.
 */
public final class LowerBounds {

  private LowerBounds() {}

  /**
   * The load: the most bytes in use in one task, or where the last fixed tensor ends if that is
   * more, and no less than the largest tensor. No plan by offsets is smaller. 0 for no records; n
   * log n.
   *
   * <p>Threading: any thread.
   *
   * @throws IllegalArgumentException if the sizes together pass 2^63 − 1, under constraints 2^61,
   *     or fixed offsets cannot be kept
   */
  public static long loadBytes(List<TensorUsageRecord> records) {
    return ConstrainedProblem.plainAlignment(records, 1) > 0
        ? new Lives(records).load()
        : new ConstrainedProblem(records, 1).lowerBound();
  }

  /**
   * The positional maxima: element k is the largest (k + 1)-th largest size over all tasks. A plan
   * by objects has at least as many objects, and its (k + 1)-th largest is at least element k. As
   * many elements as tensors are alive in one task at most; n log n.
   *
   * <p>Threading: any thread.
   *
   * @throws IllegalArgumentException if the sizes together pass 2^63 − 1
   */
  public static long[] positionalMaxima(List<TensorUsageRecord> records) {
    return new Lives(records).positionalMaxima();
  }

  /**
   * The sum of the positional maxima: no plan by objects is smaller. 0 for no records; n log n.
   *
   * <p>Threading: any thread.
   *
   * @throws IllegalArgumentException if the sizes together pass 2^63 − 1
   */
  public static long objectsBytes(List<TensorUsageRecord> records) {
    return Arrays.stream(positionalMaxima(records)).sum();
  }
}
