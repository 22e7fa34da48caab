package io.prmalloc.plan;

import java.util.Arrays;
import java.util.List;

/**
 * What no plan can beat.
 *
 * <p>Threading: any thread.
 */
public final class LowerBounds {

  private LowerBounds() {}

  /**
   * The load: the most bytes alive in one task. No plan by offsets is smaller. 0 for no records; n
   * log n.
   *
   * <p>Threading: any thread.
   *
   * @throws IllegalArgumentException if the sizes together pass 2^63 − 1
   */
  public static long loadBytes(List<TensorUsageRecord> records) {
    return new Lives(records).load();
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
    return positionalMaxima(new Lives(records));
  }

  static long[] positionalMaxima(Lives lives) {
    // Tensors come in by size, largest first. The moment k + 1 of them first share a task is the
    // moment the (k + 1)-th largest size of that task is known, and it is the largest such over
    // all tasks. One tensor raises the depth of a task by one, so no moment is missed.
    int[] bySize = lives.bySizeDescending();
    DepthTree depth = new DepthTree(lives.tickCount());
    long[] maxima = new long[bySize.length];
    int count = 0;
    for (int tensor : bySize) {
      depth.add(lives.firstTick(tensor), lives.lastTick(tensor));
      if (depth.max() > count) {
        maxima[count++] = lives.size(tensor);
      }
    }
    return Arrays.copyOf(maxima, count);
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
