package io.prmalloc.internal.planner;

import io.prmalloc.internal.planner.index.Lives;
import io.prmalloc.plan.MemoryStrategy;
import io.prmalloc.plan.ShapedObjectsAssignment;
import io.prmalloc.plan.TensorShape;
import java.util.ArrayList;
import java.util.List;

/**
 * {@link MemoryStrategy#GREEDY_IN_ORDER} for shapes of two and three dimensions.
 *
 * <p>Threading: stateless.
 */
public final class GreedyInOrderOfShapes implements ShapesStrategy {

  // Shapes have no order in which the best fit would be a neighbour, so all free objects are looked
  // at, in the order they were freed. An object does not grow: to be taken it must cover the tensor
  // as it is.

  @Override
  public int maxDimensions() {
    return 3;
  }

  @Override
  public ShapedObjectsAssignment assign(Lives lives, List<TensorShape> shapes) {
    ObjectPool pool = new ObjectPool(lives);
    List<Integer> free = new ArrayList<>();
    for (int tensor = 0; tensor < lives.count(); tensor++) {
      Interrupts.check();
      pool.release(tensor, free::add);
      int best = -1;
      long bestWaste = 0;
      for (int i = 0; i < free.size(); i++) {
        TensorShape shape = shapes.get(pool.maker(free.get(i)));
        long waste = shape.elementCount() - shapes.get(tensor).elementCount();
        if (shape.covers(shapes.get(tensor)) && (best < 0 || waste < bestWaste)) {
          best = i;
          bestWaste = waste;
        }
      }
      if (best < 0) {
        pool.create(tensor);
      } else {
        pool.reuse(tensor, free.remove(best));
      }
    }
    return pool.toAssignment(shapes);
  }
}
