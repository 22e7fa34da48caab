package io.prmalloc.internal.planner;

import io.prmalloc.internal.planner.index.Lives;
import io.prmalloc.plan.MemoryStrategy;
import io.prmalloc.plan.ObjectsAssignment;
import io.prmalloc.plan.ShapedObjectsAssignment;
import io.prmalloc.plan.TensorShape;
import java.util.List;
import java.util.stream.IntStream;

/**
 * {@link MemoryStrategy#NAIVE}.
 *
 * <p>Threading: stateless.
 */
public final class NaiveStrategy implements ObjectsStrategy, ShapesStrategy {

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
