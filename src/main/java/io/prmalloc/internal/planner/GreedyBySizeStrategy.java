package io.prmalloc.internal.planner;

import io.prmalloc.internal.planner.index.Lives;
import io.prmalloc.plan.MemoryStrategy;
import io.prmalloc.plan.ObjectsAssignment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
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
  // replace it, but when the best is lost the search starts again from object 0. Yet a tensor need
  // not see all placements, for its distances matter only once its position is reached, and only
  // the tensors of one position have a row of distances. Each begins with what the placements so
  // far made of it: its distance to an object is that to the nearest life there. If one object is
  // nearest, it is the best, whatever the history. If several are, only those placements count that
  // came as near as that: as soon as there is one the best is among them, until the last of them is
  // lost. So those few are gone through in their order.
  //
  // With m objects, p tensors a position: n · m · log n steps to begin, n · p to go on.

  private static final long NEVER = Long.MAX_VALUE;

  /** A tensor that went into an object. */
  private record Placement(int tensor, int object) {}

  /** An object came near to a tensor, or was lost to it: {@link #NEVER}. */
  private record Change(int time, int object, long distance) {}

  /** The lives in an object, by time; no two overlap. */
  private static final class ObjectLives {
    private long[] firsts = new long[4];
    private long[] lasts = new long[4];
    // When each came into the object.
    private int[] times = new int[4];
    private int count;

    private void add(long first, long last, int time) {
      if (count == firsts.length) {
        firsts = Arrays.copyOf(firsts, 2 * count);
        lasts = Arrays.copyOf(lasts, 2 * count);
        times = Arrays.copyOf(times, 2 * count);
      }
      int at = behind(last);
      System.arraycopy(firsts, at, firsts, at + 1, count - at);
      System.arraycopy(lasts, at, lasts, at + 1, count - at);
      System.arraycopy(times, at, times, at + 1, count - at);
      firsts[at] = first;
      lasts[at] = last;
      times[at] = time;
      count++;
    }

    /** The first life that begins behind a task. */
    private int behind(long task) {
      int from = 0;
      int to = count;
      while (from < to) {
        int middle = (from + to) >>> 1;
        if (firsts[middle] <= task) {
          from = middle + 1;
        } else {
          to = middle;
        }
      }
      return from;
    }

    /** To the nearest life, or {@link #NEVER} if one overlaps. */
    private long distance(long first, long last) {
      int behind = behind(last);
      long after = behind < count ? firsts[behind] - last : NEVER;
      if (behind == 0) {
        return after;
      }
      return lasts[behind - 1] >= first ? NEVER : Math.min(first - lasts[behind - 1], after);
    }

    /** Adds when the object came as near as a distance, and when it was lost after that. */
    private void addChanges(long first, long last, long near, int object, List<Change> changes) {
      int behind = behind(last);
      int before = behind;
      while (before > 0 && lasts[before - 1] >= first) {
        before--;
      }
      int begin = before;
      while (begin > 0 && first - lasts[begin - 1] <= near) {
        begin--;
      }
      int end = behind;
      while (end < count && firsts[end] - last <= near) {
        end++;
      }
      if (begin == before && end == behind) {
        return;
      }
      int lost = Integer.MAX_VALUE;
      for (int i = before; i < behind; i++) {
        lost = Math.min(lost, times[i]);
      }
      for (int i = begin; i < end; i++) {
        if (times[i] < lost) {
          long distance = i < before ? first - lasts[i] : firsts[i] - last;
          changes.add(new Change(times[i], object, distance));
        }
      }
      if (lost < Integer.MAX_VALUE) {
        changes.add(new Change(lost, object, NEVER));
      }
    }
  }

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

    /** Learns what all placements so far made of the objects. */
    private void catchUp(List<ObjectLives> placed, Lives lives) {
      long first = lives.firstTask(tensor);
      long last = lives.lastTask(tensor);
      int nearest = 0;
      objects = placed.size();
      for (int object = 0; object < objects; object++) {
        long distance = placed.get(object).distance(first, last);
        distances.set(object, distance);
        if (distance < bestDistance) {
          bestDistance = distance;
          bestObject = object;
          nearest = 0;
        }
        nearest += distance == bestDistance ? 1 : 0;
      }
      if (bestObject >= 0 && nearest > 1) {
        List<Change> changes = new ArrayList<>();
        for (int object = 0; object < objects; object++) {
          placed.get(object).addChanges(first, last, bestDistance, object, changes);
        }
        bestObject = bestAfter(changes);
      }
    }

    private int bestAfter(List<Change> changes) {
      changes.sort(Comparator.comparingInt(Change::time));
      Waiting replayed = new Waiting(tensor);
      replayed.objects = objects;
      changes.forEach(change -> replayed.change(change.object, change.distance));
      return replayed.bestObject;
    }

    private void see(Placement placement, Lives lives) {
      int object = placement.object;
      boolean isNew = object == objects;
      if (!isNew && distances.get(object) == NEVER) {
        return;
      }
      if (isNew) {
        objects++;
      }
      change(object, distance(lives, tensor, placement.tensor));
    }

    /** An object came to a distance that may be its nearest, or is lost. */
    private void change(int object, long distance) {
      if (distance == NEVER) {
        distances.set(object, NEVER);
        if (bestObject == object) {
          findBest();
        }
        return;
      }
      distances.set(object, Math.min(distances.get(object), distance));
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
    List<ObjectLives> objects = new ArrayList<>();
    int[] objectIds = new int[lives.count()];
    int placed = 0;
    for (List<Integer> position : positions(lives)) {
      List<Waiting> waiting = new ArrayList<>(position.size());
      for (int tensor : position) {
        Interrupts.check();
        Waiting newcomer = new Waiting(tensor);
        newcomer.catchUp(objects, lives);
        waiting.add(newcomer);
      }
      while (!waiting.isEmpty()) {
        Interrupts.check();
        Waiting next = takeNext(waiting, lives);
        if (next.bestDistance == NEVER) {
          next.bestObject = objects.size();
          objects.add(new ObjectLives());
        }
        Placement placement = new Placement(next.tensor, next.bestObject);
        objectIds[next.tensor] = next.bestObject;
        objects
            .get(next.bestObject)
            .add(lives.firstTask(next.tensor), lives.lastTask(next.tensor), placed++);
        waiting.forEach(other -> other.see(placement, lives));
      }
    }
    return ObjectPool.assignment(lives, objectIds, objects.size());
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
