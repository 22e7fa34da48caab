package io.prmalloc.internal.planner;

import io.prmalloc.internal.planner.index.IndexSort;
import io.prmalloc.internal.planner.index.Lives;
import io.prmalloc.internal.planner.index.RangeMinimum;
import io.prmalloc.plan.MemoryStrategy;
import io.prmalloc.plan.ObjectsAssignment;
import java.util.Arrays;
import java.util.Comparator;
import java.util.NavigableSet;
import java.util.TreeSet;

/**
 * {@link MemoryStrategy#GREEDY_BY_BREADTH}.
 *
 * <p>Threading: stateless.
 */
public final class GreedyByBreadthStrategy implements ObjectsStrategy {

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
  // What is in use when is kept in ticks, for lives share a tick if they share a task.
  //
  // The tensors of one rank all live in the tick of that rank, so an object that is in use there
  // has room for none of them. Where a rank has many tensors, those objects are left out before the
  // search begins; else each tensor would look at all of them, n²/2 times if everything is alive at
  // once.

  // From how many tensors of one rank on it pays to look at all objects once more.
  private static final int MANY = 8;

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

  /** Objects in both orders. */
  private static final class SharedSet {
    private final NavigableSet<Shared> upwards = new TreeSet<>(UPWARDS);
    private final NavigableSet<Shared> downwards = new TreeSet<>(DOWNWARDS);

    private int count() {
      return upwards.size();
    }

    private void add(Shared object) {
      upwards.add(object);
      downwards.add(object);
    }

    private void remove(Shared object) {
      upwards.remove(object);
      downwards.remove(object);
    }

    /** The object that a tensor gets, or null if none has room. */
    private Shared bestFree(Lives lives, int tensor) {
      long size = lives.size(tensor);
      Shared larger = firstFree(upwards.tailSet(new Shared(-1, size)), lives, tensor);
      return larger != null
          ? larger
          : firstFree(downwards.tailSet(new Shared(Integer.MAX_VALUE, size)), lives, tensor);
    }

    /** Those that are not in use in a tick. */
    private SharedSet idleIn(int tick) {
      SharedSet idle = new SharedSet();
      for (Shared object : upwards) {
        if (object.schedule.isFree(tick, tick)) {
          idle.add(object);
        }
      }
      return idle;
    }
  }

  @Override
  public ObjectsAssignment assign(Lives lives) {
    int[] ticks = IndexSort.descending(lives.breadths());
    int[] ranks = bestRanks(lives, ticks);
    int[] objectIds = new int[lives.count()];
    SharedSet objects = new SharedSet();
    int[] order = placingOrder(lives, ranks);
    int end;
    for (int begin = 0; begin < order.length; begin = end) {
      int rank = ranks[order[begin]];
      end = begin + 1;
      while (end < order.length && ranks[order[end]] == rank) {
        end++;
      }
      SharedSet candidates = end - begin < MANY ? objects : objects.idleIn(ticks[rank]);
      for (int i = begin; i < end; i++) {
        Interrupts.check();
        objectIds[order[i]] = place(lives, order[i], candidates, objects).id;
      }
    }
    return ObjectPool.assignment(lives, objectIds, objects.count());
  }

  /**
   * Gives a tensor an object.
   *
   * @param candidates which it may be, if not a new one; all objects, or those idle in a tick of
   *     this tensor, in which the object given is in use then
   */
  private static Shared place(Lives lives, int tensor, SharedSet candidates, SharedSet objects) {
    Shared object = candidates.bestFree(lives, tensor);
    if (object == null) {
      object = new Shared(objects.count(), lives.size(tensor));
      objects.add(object);
    } else {
      if (candidates != objects) {
        candidates.remove(object);
      }
      if (object.sizeBytes < lives.size(tensor)) {
        objects.remove(object);
        object.sizeBytes = lives.size(tensor);
        objects.add(object);
      }
    }
    object.schedule.add(lives.firstTick(tensor), lives.lastTick(tensor));
    return object;
  }

  private static Shared firstFree(Iterable<Shared> objects, Lives lives, int tensor) {
    for (Shared object : objects) {
      if (object.schedule.isFree(lives.firstTick(tensor), lives.lastTick(tensor))) {
        return object;
      }
    }
    return null;
  }

  /** All tensors by rank, those of one rank by size. */
  private static int[] placingOrder(Lives lives, int[] ranks) {
    int[] bySize = lives.bySizeDescending();
    // Stable, so that within a task the order stays that of the profile.
    int[] order =
        IndexSort.ascending(Arrays.stream(bySize).mapToLong(tensor -> ranks[tensor]).toArray());
    for (int i = 0; i < order.length; i++) {
      order[i] = bySize[order[i]];
    }
    return order;
  }

  /**
   * The best rank of a tick in each tensor's life.
   *
   * @param ticks all of them, the broadest first
   */
  private static int[] bestRanks(Lives lives, int[] ticks) {
    int[] rankOfTick = new int[ticks.length];
    for (int rank = 0; rank < ticks.length; rank++) {
      rankOfTick[ticks[rank]] = rank;
    }
    RangeMinimum best = new RangeMinimum(rankOfTick);
    int[] ranks = new int[lives.count()];
    for (int tensor = 0; tensor < ranks.length; tensor++) {
      ranks[tensor] = best.minimum(lives.firstTick(tensor), lives.lastTick(tensor));
    }
    return ranks;
  }
}
