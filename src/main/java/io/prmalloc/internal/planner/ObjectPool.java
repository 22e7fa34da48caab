package io.prmalloc.internal.planner;

import io.prmalloc.internal.planner.index.Lives;
import io.prmalloc.plan.ObjectsAssignment;
import io.prmalloc.plan.ShapedObjectsAssignment;
import io.prmalloc.plan.TensorShape;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.function.IntConsumer;

/**
 * The objects of a strategy that goes by first task: which tensor has which, and which are in use.
 *
 * <p>Threading: not safe.
 */
final class ObjectPool {

  private record Use(long lastTask, int object) {}

  private final Lives lives;
  private final PriorityQueue<Use> inUse =
      new PriorityQueue<>(Comparator.comparingLong(Use::lastTask).thenComparingInt(Use::object));
  private final int[] objectIds;
  // Of each object the first and the last tensor it got.
  private final List<Integer> makers = new ArrayList<>();
  private final List<Integer> holders = new ArrayList<>();

  ObjectPool(Lives lives) {
    this.lives = lives;
    this.objectIds = new int[lives.count()];
  }

  /**
   * Tells of every object whose last use lies before a tensor's first task, in the order of (last
   * task, object).
   */
  void release(int tensor, IntConsumer freed) {
    while (!inUse.isEmpty() && inUse.peek().lastTask < lives.firstTask(tensor)) {
      freed.accept(inUse.poll().object);
    }
  }

  /** Gives a tensor a new object. */
  void create(int tensor) {
    makers.add(tensor);
    holders.add(tensor);
    use(tensor, makers.size() - 1);
  }

  /** Gives a tensor an object that is free. */
  void reuse(int tensor, int object) {
    holders.set(object, tensor);
    use(tensor, object);
  }

  private void use(int tensor, int object) {
    objectIds[tensor] = object;
    inUse.add(new Use(lives.lastTask(tensor), object));
  }

  /** The tensor that has an object, or had it last. */
  int holder(int object) {
    return holders.get(object);
  }

  /** The tensor an object was made for. */
  int maker(int object) {
    return makers.get(object);
  }

  /** The object of every tensor. */
  int[] objectIds() {
    return objectIds;
  }

  /** A plan in which every object is as large as its largest tensor. */
  ObjectsAssignment toAssignment() {
    return assignment(lives, objectIds, makers.size());
  }

  /** A plan in which every object has the shape of the tensor it was made for. */
  ShapedObjectsAssignment toAssignment(List<TensorShape> shapes) {
    return ShapedObjectsAssignment.of(objectIds, makers.stream().map(shapes::get).toList());
  }

  /** A plan in which every object is as large as its largest tensor. */
  static ObjectsAssignment assignment(Lives lives, int[] objectIds, int objectCount) {
    long[] sizes = new long[objectCount];
    for (int tensor = 0; tensor < objectIds.length; tensor++) {
      int object = objectIds[tensor];
      sizes[object] = Math.max(sizes[object], lives.size(tensor));
    }
    return ObjectsAssignment.of(objectIds, sizes);
  }
}
