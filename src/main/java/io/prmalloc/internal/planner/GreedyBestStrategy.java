package io.prmalloc.internal.planner;

import io.prmalloc.internal.planner.index.Lives;
import io.prmalloc.plan.MemoryStrategy;
import io.prmalloc.plan.ObjectsAssignment;

/**
 * {@link MemoryStrategy#GREEDY_BEST}.
 *
 * <p>Threading: stateless.
 */
public final class GreedyBestStrategy implements ObjectsStrategy {

  @Override
  public ObjectsAssignment assign(Lives lives) {
    ObjectsAssignment bySize = new GreedyBySizeStrategy().assign(lives);
    ObjectsAssignment byBreadth = new GreedyByBreadthStrategy().assign(lives);
    return byBreadth.totalBytes() < bySize.totalBytes() ? byBreadth : bySize;
  }
}
