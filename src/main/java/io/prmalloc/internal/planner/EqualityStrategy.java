package io.prmalloc.internal.planner;

import io.prmalloc.internal.planner.index.Lives;
import io.prmalloc.plan.MemoryStrategy;
import io.prmalloc.plan.ObjectsAssignment;
import io.prmalloc.plan.ShapedObjectsAssignment;
import io.prmalloc.plan.TensorShape;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.function.IntFunction;
import java.util.function.Supplier;

/**
 * {@link MemoryStrategy#EQUALITY}.
 *
 * <p>Threading: stateless.
 */
public final class EqualityStrategy implements ObjectsStrategy, ShapesStrategy {

  // The free objects of each size lie in a queue of their own; which kind of queue decides which of
  // them is next. A stack gives the one freed last, whose memory is the warmest. Objects of two and
  // three dimensions are few, and TensorFlow Lite looks through them in the order of their ids.

  @Override
  public ObjectsAssignment assign(Lives lives) {
    return share(lives, lives::size, EqualityStrategy::stack).toAssignment();
  }

  @Override
  public int maxDimensions() {
    return TensorShape.MAX_DIMENSIONS;
  }

  @Override
  public ShapedObjectsAssignment assign(Lives lives, List<TensorShape> shapes) {
    boolean byId = shapes.get(0).dimensions().size() < TensorShape.MAX_DIMENSIONS;
    return share(lives, shapes::get, byId ? PriorityQueue::new : EqualityStrategy::stack)
        .toAssignment(shapes);
  }

  private static Queue<Integer> stack() {
    return Collections.asLifoQueue(new ArrayDeque<>());
  }

  private static ObjectPool share(
      Lives lives, IntFunction<Object> sizeOf, Supplier<Queue<Integer>> newQueue) {
    ObjectPool pool = new ObjectPool(lives);
    Map<Object, Queue<Integer>> free = new HashMap<>();
    for (int tensor = 0; tensor < lives.count(); tensor++) {
      Interrupts.check();
      pool.release(
          tensor,
          object ->
              free.computeIfAbsent(sizeOf.apply(pool.maker(object)), size -> newQueue.get())
                  .add(object));
      Queue<Integer> fitting = free.get(sizeOf.apply(tensor));
      if (fitting == null || fitting.isEmpty()) {
        pool.create(tensor);
      } else {
        pool.reuse(tensor, fitting.remove());
      }
    }
    return pool;
  }
}
