package io.prmalloc.internal.planner;

import io.prmalloc.internal.planner.index.Lives;
import io.prmalloc.plan.MemoryStrategy;
import io.prmalloc.plan.ShapedObjectsAssignment;
import io.prmalloc.plan.TensorShape;
import java.util.List;

/** The way of one {@link MemoryStrategy} with shapes. Threading: as the strategy. */
public interface ShapesStrategy {
  /** The most dimensions this is defined for. */
  int maxDimensions();

  /**
   * A plan in the order of {@code lives}.
   *
   * @param shapes of every tensor, in that order, all of equally many dimensions
   */
  ShapedObjectsAssignment assign(Lives lives, List<TensorShape> shapes);
}
