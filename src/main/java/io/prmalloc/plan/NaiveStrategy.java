package io.prmalloc.plan;

import java.util.List;
import java.util.stream.IntStream;

/**
 * {@link MemoryStrategy#NAIVE}.
 *
 * <p>Threading: stateless.
 */
final class NaiveStrategy implements ObjectsStrategy, ShapesStrategy {

  @Override
  public ObjectsAssignment assign(Lives lives) {
    return ObjectPool.assignment(lives, identity(lives), lives.count());
  }

  @Override
  public int maxDimensions() {
    return TensorShape.MAX_DIMENSIONS;
  }

  @Override
  public ShapedObjectsAssignment assign(Lives lives, List<TensorShape> shapes) {
    return ShapedObjectsAssignment.of(identity(lives), shapes);
  }

  private static int[] identity(Lives lives) {
    return IntStream.range(0, lives.count()).toArray();
  }
}
