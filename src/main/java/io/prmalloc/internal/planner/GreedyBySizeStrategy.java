package io.prmalloc.internal.planner;

import io.prmalloc.internal.planner.index.Lives;
import io.prmalloc.plan.MemoryStrategy;
import io.prmalloc.plan.ObjectsAssignment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * {@link MemoryStrategy#GREEDY_BY_SIZE} for objects: size–distance priority.
 *
 * <p>Threading: stateless.
 */
public final class GreedyBySizeStrategy implements ObjectsStrategy {

  // A tensor's position says which positional maximum it can hide behind; tensors of one position
  // are about as large as each other. Positions are done one after the other, and in each the
  // tensor goes next that lies closest in time to an object, for it leaves the least room unused.
  //
  // Every tensor keeps its distance to every object, and its best object. Which object is best
  // among equals depends on history: an object that comes as near as the best later does not
  // replace it, but when the best is lost the search starts again from object 0. So distances
  // cannot be worked out afresh; a tensor must see all placements in their order. It may see them
  // late, though: its distances matter only once its position is reached. So each position begins
  // with its tensors catching up on the placements so far, and only they have a row of distances.
  // n²/2 steps in all.

  private static final long NEVER = Long.MAX_VALUE;

  /** A tensor that went into an object. */
  private record Placement(int tensor, int object) {}

  /**
   * The distance of a tensor to every object, {@link #NEVER} unless set. Where most tensors are
   * alive at once, most distances are that, and only blocks with others take memory.
   */
  private static final class DistanceRow {
    private static final int BLOCK = 64;
    private static final long[][] NONE = {};

    private long[][] blocks = NONE;

    private long get(int object) {
      int block = object / BLOCK;
      return block < blocks.length && blocks[block] != null ? blocks[block][object % BLOCK] : NEVER;
    }

    private void set(int object, long distance) {
      int block = object / BLOCK;
      if (block >= blocks.length || blocks[block] == null) {
        if (distance == NEVER) {
          return;
        }
        if (block >= blocks.length) {
          blocks = Arrays.copyOf(blocks, Math.max(block + 1, 2 * blocks.length));
        }
        blocks[block] = new long[BLOCK];
        Arrays.fill(blocks[block], NEVER);
      }
      blocks[block][object % BLOCK] = distance;
    }
  }

  /** A tensor that waits, and what it knows of the objects. */
  private static final class Waiting {
    private final int tensor;
    private final DistanceRow distances = new DistanceRow();
    private int objects;
    private int bestObject = -1;
    private long bestDistance = NEVER;

    private Waiting(int tensor) {
      this.tensor = tensor;
    }

    private void see(Placement placement, Lives lives) {
      int object = placement.object;
      boolean isNew = object == objects;
      if (!isNew && distances.get(object) == NEVER) {
        return;
      }
      long distance = distance(lives, tensor, placement.tensor);
      if (isNew) {
        distances.set(object, distance);
        objects++;
      } else if (distance == NEVER) {
        distances.set(object, NEVER);
        if (bestObject == object) {
          findBest();
        }
      } else {
        distances.set(object, Math.min(distances.get(object), distance));
      }
      if (distance < bestDistance) {
        bestDistance = distance;
        bestObject = object;
      }
    }

    private void findBest() {
      bestDistance = NEVER;
      bestObject = -1;
      for (int object = 0; object < objects; object++) {
        long distance = distances.get(object);
        if (distance < bestDistance) {
          bestDistance = distance;
          bestObject = object;
        }
      }
    }

    private boolean isBefore(Waiting other, Lives lives) {
      if (bestDistance != other.bestDistance) {
        return bestDistance < other.bestDistance;
      }
      return lives.size(tensor) > lives.size(other.tensor);
    }
  }

  private static long distance(Lives lives, int one, int other) {
    if (lives.lastTask(one) < lives.firstTask(other)) {
      return lives.firstTask(other) - lives.lastTask(one);
    }
    if (lives.lastTask(other) < lives.firstTask(one)) {
      return lives.firstTask(one) - lives.lastTask(other);
    }
    return NEVER;
  }

  @Override
  public ObjectsAssignment assign(Lives lives) {
    List<Placement> placements = new ArrayList<>(lives.count());
    int objectCount = 0;
    for (List<Integer> position : positions(lives)) {
      List<Waiting> waiting = new ArrayList<>(position.size());
      for (int tensor : position) {
        Interrupts.check();
        Waiting newcomer = new Waiting(tensor);
        placements.forEach(placement -> newcomer.see(placement, lives));
        waiting.add(newcomer);
      }
      while (!waiting.isEmpty()) {
        Interrupts.check();
        Waiting next = takeNext(waiting, lives);
        int object = next.bestDistance == NEVER ? objectCount++ : next.bestObject;
        Placement placement = new Placement(next.tensor, object);
        placements.add(placement);
        waiting.forEach(other -> other.see(placement, lives));
      }
    }
    int[] objectIds = new int[lives.count()];
    placements.forEach(placement -> objectIds[placement.tensor] = placement.object);
    return ObjectPool.assignment(lives, objectIds, objectCount);
  }

  /**
   * Takes the first in rank out; those that stay keep their order, which is that of the records.
   */
  private static Waiting takeNext(List<Waiting> waiting, Lives lives) {
    int next = 0;
    for (int i = 1; i < waiting.size(); i++) {
      if (waiting.get(i).isBefore(waiting.get(next), lives)) {
        next = i;
      }
    }
    return waiting.remove(next);
  }

  /** The tensors of every position that has any, by position; in each by number. */
  private static List<List<Integer>> positions(Lives lives) {
    long[] maxima = lives.positionalMaxima();
    List<List<Integer>> positions = new ArrayList<>();
    for (int i = 0; i < maxima.length; i++) {
      positions.add(new ArrayList<>());
    }
    for (int tensor = 0; tensor < lives.count(); tensor++) {
      positions.get(position(maxima, lives.size(tensor))).add(tensor);
    }
    positions.removeIf(List::isEmpty);
    return positions;
  }

  /** The last of the maxima, which do not increase, that is at least a size. */
  private static int position(long[] maxima, long size) {
    int from = 0;
    int to = maxima.length - 1;
    while (from < to) {
      int middle = (from + to + 1) >>> 1;
      if (maxima[middle] >= size) {
        from = middle;
      } else {
        to = middle - 1;
      }
    }
    return from;
  }
}
