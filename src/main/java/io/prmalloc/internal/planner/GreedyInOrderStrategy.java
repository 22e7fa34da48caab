package io.prmalloc.internal.planner;

import io.prmalloc.internal.planner.index.Lives;
import io.prmalloc.internal.planner.index.ReallocationGraph;
import io.prmalloc.plan.MemoryStrategy;
import io.prmalloc.plan.ObjectsAssignment;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.NavigableSet;
import java.util.TreeSet;

/**
 * {@link MemoryStrategy#GREEDY_IN_ORDER} for sizes in bytes.
 *
 * <p>Threading: stateless.
 */
public final class GreedyInOrderStrategy implements ObjectsStrategy {

  // Free objects lie in a set ordered by (size, id). Without a graph two of them are of interest:
  // the first that is large enough wastes the least, the one just before it grows the least. Growth
  // is chosen only where it is strictly less than the waste. With a graph all are looked at, for
  // each may be barred.

  private record Free(long sizeBytes, int object) {}

  private static final Comparator<Free> ORDER =
      Comparator.comparingLong(Free::sizeBytes).thenComparingInt(Free::object);

  @Override
  public ObjectsAssignment assign(Lives lives) {
    return assign(lives, null);
  }

  /**
   * As {@link #assign(Lives)} with a graph.
   *
   * @param graph by the caller's numbers; null if every tensor may follow every other
   */
  public static ObjectsAssignment assign(Lives lives, ReallocationGraph graph) {
    ObjectPool pool = new ObjectPool(lives);
    NavigableSet<Free> free = new TreeSet<>(ORDER);
    List<Long> sizes = new ArrayList<>();
    for (int tensor = 0; tensor < lives.count(); tensor++) {
      Interrupts.check();
      pool.release(tensor, object -> free.add(new Free(sizes.get(object), object)));
      long size = lives.size(tensor);
      Free best =
          graph == null ? nearest(free, size) : nearest(free, size, tensor, lives, pool, graph);
      if (best == null) {
        pool.create(tensor);
        sizes.add(size);
      } else {
        free.remove(best);
        pool.reuse(tensor, best.object);
        sizes.set(best.object, Math.max(best.sizeBytes, size));
      }
    }
    return pool.toAssignment();
  }

  private static Free nearest(NavigableSet<Free> free, long size) {
    Free least = new Free(size, 0);
    Free large = free.ceiling(least);
    Free small = free.lower(least);
    if (large == null || small == null) {
      return large == null ? small : large;
    }
    return size - small.sizeBytes < large.sizeBytes - size ? small : large;
  }

  private static Free nearest(
      NavigableSet<Free> free,
      long size,
      int tensor,
      Lives lives,
      ObjectPool pool,
      ReallocationGraph graph) {
    Free best = null;
    long bestDifference = 0;
    for (Free candidate : free) {
      long difference = Math.abs(candidate.sizeBytes - size);
      if ((best == null || difference < bestDifference)
          && graph.mayFollow(lives.record(pool.holder(candidate.object)), lives.record(tensor))) {
        best = candidate;
        bestDifference = difference;
      }
    }
    return best;
  }
}
