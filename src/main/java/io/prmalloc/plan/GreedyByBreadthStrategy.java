package io.prmalloc.plan;

import java.util.Comparator;
import java.util.NavigableSet;
import java.util.TreeSet;

/**
 * {@link MemoryStrategy#GREEDY_BY_BREADTH}.
 *
 * <p>Threading: stateless.
 */
final class GreedyByBreadthStrategy implements MemoryStrategy.ObjectsStrategy {

  // The rule walks the tasks from the broadest on and in each places, largest first, what is alive
  // and not yet placed. So a tensor is placed in the best-ranked task it lives in, and all of them
  // can be put in that order beforehand, without a profile for every task: sort by (rank of that
  // task, size descending, number).
  //
  // Ticks do for tasks (see Lives): what is alive in any other task is alive in the tick before it,
  // whose breadth is no smaller and which comes first among equals.
  //
  // Objects lie in a set by (size, id). Upwards from the tensor's size the first object with room
  // in time is the smallest that is large enough. If there is none, downwards the first is the
  // largest; among equals the smallest id is wanted, so the order downwards is (−size, id).

  private static final class Shared {
    private final int id;
    private final Schedule schedule = new Schedule();
    private long sizeBytes;

    private Shared(int id, long sizeBytes) {
      this.id = id;
      this.sizeBytes = sizeBytes;
    }

    private long sizeBytes() {
      return sizeBytes;
    }
  }

  private static final Comparator<Shared> UPWARDS =
      Comparator.comparingLong(Shared::sizeBytes).thenComparingInt(o -> o.id);
  private static final Comparator<Shared> DOWNWARDS =
      Comparator.comparingLong(Shared::sizeBytes).reversed().thenComparingInt(o -> o.id);

  @Override
  public ObjectsAssignment assign(Lives lives) {
    int[] objectIds = new int[lives.count()];
    NavigableSet<Shared> upwards = new TreeSet<>(UPWARDS);
    NavigableSet<Shared> downwards = new TreeSet<>(DOWNWARDS);
    for (int tensor : placingOrder(lives)) {
      Interrupts.check();
      long size = lives.size(tensor);
      Shared probe = new Shared(-1, size);
      Shared object = firstFree(upwards.tailSet(probe), lives, tensor);
      if (object == null) {
        object = firstFree(downwards.tailSet(new Shared(Integer.MAX_VALUE, size)), lives, tensor);
      }
      if (object == null) {
        object = new Shared(upwards.size(), size);
      } else if (object.sizeBytes < size) {
        upwards.remove(object);
        downwards.remove(object);
        object.sizeBytes = size;
      }
      upwards.add(object);
      downwards.add(object);
      object.schedule.add(lives.firstTask(tensor), lives.lastTask(tensor));
      objectIds[tensor] = object.id;
    }
    return ObjectPool.assignment(lives, objectIds, upwards.size());
  }

  private static Shared firstFree(Iterable<Shared> objects, Lives lives, int tensor) {
    for (Shared object : objects) {
      if (object.schedule.isFree(lives.firstTask(tensor), lives.lastTask(tensor))) {
        return object;
      }
    }
    return null;
  }

  private static int[] placingOrder(Lives lives) {
    RangeMinimum best = new RangeMinimum(tickRanks(lives));
    int[] bySize = lives.bySizeDescending();
    long[] ranks = new long[bySize.length];
    for (int i = 0; i < ranks.length; i++) {
      ranks[i] = best.minimum(lives.firstTick(bySize[i]), lives.lastTick(bySize[i]));
    }
    // Stable, so that within a task the order stays that of the profile.
    int[] order = IndexSort.ascending(ranks);
    for (int i = 0; i < order.length; i++) {
      order[i] = bySize[order[i]];
    }
    return order;
  }

  /** The place of every tick in the order of breadth. */
  private static int[] tickRanks(Lives lives) {
    long[] breadths = lives.breadths();
    int[] order = IndexSort.descending(breadths);
    int[] ranks = new int[order.length];
    for (int rank = 0; rank < order.length; rank++) {
      ranks[order[rank]] = rank;
    }
    return ranks;
  }
}
