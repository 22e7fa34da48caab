package io.prmalloc.plan;

/**
 * {@link MemoryStrategy#GREEDY_BEST}.
 *
 * <p>Threading: stateless.
 */
final class GreedyBestStrategy implements ObjectsStrategy {

  @Override
  public ObjectsAssignment assign(Lives lives) {
    ObjectsAssignment bySize = new GreedyBySizeStrategy().assign(lives);
    ObjectsAssignment byBreadth = new GreedyByBreadthStrategy().assign(lives);
    return byBreadth.totalBytes() < bySize.totalBytes() ? byBreadth : bySize;
  }
}
