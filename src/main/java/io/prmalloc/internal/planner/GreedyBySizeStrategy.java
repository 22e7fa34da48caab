package io.prmalloc.internal.planner;

import io.prmalloc.internal.planner.index.IndexSort;
import io.prmalloc.internal.planner.index.Lives;
import io.prmalloc.internal.planner.index.MinimumTree;
import io.prmalloc.plan.MemoryStrategy;
import io.prmalloc.plan.ObjectsAssignment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;

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
  // The lives in an object leave gaps in time. A tensor fits an object if it lies in one of its
  // gaps, and its distance to the object is that to the nearer end of the gap. So no tensor need
  // know its distance to every object:
  //
  // - Of all gaps that a tensor fits, the nearest one that begins before it is that of the last
  //   life to end before it whose gap lasts longer than the tensor. The lives lie in a tree by
  //   their ends, with how long the gap behind each lasts, so it is found in O(log n). So is, the
  //   other way round, the nearest gap that ends behind it (`Side`).
  // - Which tensor is next, a heap says. When a position begins, each of its tensors goes into it
  //   with its distance. Objects that a tensor loses make its distance grow, which shows when it
  //   comes to the top: then it goes back. Distances shrink only where a tensor of this position
  //   was placed. So each such place is in the heap, too, with the tensor that waits nearest to it;
  //   if that is no longer so when it comes to the top, it goes back as well. Places with the same
  //   end are one, with the longest of their gaps: what fits any of them fits that.
  //
  // Which object is best among equally near ones depends on history: an object that comes as near
  // as the best later does not replace it, but when the best is lost the search starts again from
  // object 0. So of a tensor that has several, what happened within that distance of it is gone
  // through in the order it happened, objects that it has lost since included. O(k log k) for k
  // lives placed within the distance; all else takes O(n log n).

  private static final long NEVER = Long.MAX_VALUE;
  private static final int NONE = -1;

  /** Where the next tensor may be: one that waits, or the one nearest to the lives of an end. */
  private record Candidate(long distance, int tensor, Side side, int end) {}

  /** One end of a gap, and all tensors by it; the other way round, time runs backwards. */
  private static final class Side {
    private final Lives lives;
    private final boolean isMirrored;
    // All tensors, the last to end first, and where each stands there.
    private final int[] byEnd;
    private final long[] ends;
    private final int[] places;
    // By place, when the gap behind a placed tensor ends, negative: the longest is the minimum.
    private final MinimumTree gaps;
    // The tensors of a position by begin, then as they come among equals, and their ends.
    private int[] waiting = {};
    private long[] begins = {};
    private MinimumTree waitingEnds;
    private final int[] waitingPlaces;
    // The candidate in the heap, by the first place of its end; others of that end are outdated.
    private final Candidate[] latest;

    private Side(Lives lives, boolean isMirrored) {
      this.lives = lives;
      this.isMirrored = isMirrored;
      int count = lives.count();
      long[] byTensor = new long[count];
      for (int tensor = 0; tensor < count; tensor++) {
        byTensor[tensor] = end(tensor);
      }
      byEnd = IndexSort.descending(byTensor);
      ends = new long[count];
      places = new int[count];
      for (int place = 0; place < count; place++) {
        ends[place] = byTensor[byEnd[place]];
        places[byEnd[place]] = place;
      }
      gaps = new MinimumTree(count);
      waitingEnds = new MinimumTree(0);
      waitingPlaces = new int[count];
      latest = new Candidate[count];
    }

    private long begin(int tensor) {
      return isMirrored ? -lives.lastTask(tensor) : lives.firstTask(tensor);
    }

    private long end(int tensor) {
      return isMirrored ? -lives.firstTask(tensor) : lives.lastTask(tensor);
    }

    /** The first place with an end before a task. */
    private int placeBefore(long task) {
      int from = 0;
      int to = ends.length;
      while (from < to) {
        int middle = (from + to) >>> 1;
        if (ends[middle] < task) {
          to = middle;
        } else {
          from = middle + 1;
        }
      }
      return from;
    }

    /** The gap behind a placed tensor lasts to another one's begin, or forever. */
    private void setGap(int tensor, int next) {
      gaps.set(places[tensor], next == NONE ? -NEVER : -begin(next));
    }

    /** The nearest gap that a tensor fits, by the place of the life before it. */
    private int nearest(int tensor) {
      return nextFrom(placeBefore(begin(tensor)), tensor);
    }

    /** The same from a place on; {@link #NONE} if there is none. */
    private int nextFrom(int place, int tensor) {
      return gaps.firstBelow(place, -end(tensor));
    }

    /** From the life at a place to a tensor behind it; {@link #NEVER} for {@link #NONE}. */
    private long distance(int place, int tensor) {
      return place == NONE ? NEVER : begin(tensor) - ends[place];
    }

    /**
     * These tensors wait from now on, and no other.
     *
     * @param tensors in the order they have among equals
     */
    private void await(int[] tensors) {
      int[] order = IndexSort.ascending(Arrays.stream(tensors).mapToLong(this::begin).toArray());
      waiting = new int[order.length];
      begins = new long[order.length];
      waitingEnds = new MinimumTree(order.length);
      for (int i = 0; i < order.length; i++) {
        waiting[i] = tensors[order[i]];
        begins[i] = begin(waiting[i]);
        waitingEnds.set(i, end(waiting[i]));
        waitingPlaces[waiting[i]] = i;
      }
    }

    private void stopWaiting(int tensor) {
      waitingEnds.set(waitingPlaces[tensor], NEVER);
    }

    /** The tensor that waits nearest to the lives that end when one does; null if none fits. */
    private Candidate candidate(long end) {
      int from = placeBefore(end + 1);
      long gapEnd = -gaps.minimum(from, placeBefore(end));
      int found = waitingEnds.firstBelow(firstWaiting(end), gapEnd);
      return found == NONE ? null : new Candidate(begins[found] - end, waiting[found], this, from);
    }

    private int firstWaiting(long task) {
      int from = 0;
      int to = begins.length;
      while (from < to) {
        int middle = (from + to) >>> 1;
        if (begins[middle] <= task) {
          from = middle + 1;
        } else {
          to = middle;
        }
      }
      return from;
    }
  }

  /** What happened within a distance of a tensor, in the order of placing. */
  private static final class History {

    private record Near(long distance, int object) {}

    // By object: whether it is in this history, when it was lost, and how near it is.
    private final int[] numbers;
    private final int[] lostTimes;
    private final long[] distances;
    private int number;
    // Time and index in one, for sorting.
    private long[] keys = new long[16];
    private int[] objects = new int[16];
    private long[] changes = new long[16];
    private int count;

    private History(int tensors) {
      numbers = new int[tensors];
      lostTimes = new int[tensors];
      distances = new long[tensors];
    }

    private void clear() {
      number++;
      count = 0;
    }

    private boolean has(int object) {
      return numbers[object] == number;
    }

    /**
     * One more object.
     *
     * @param lostTime when it was lost; {@link Integer#MAX_VALUE} if it is not
     */
    private void add(int object, int lostTime) {
      numbers[object] = number;
      lostTimes[object] = lostTime;
      distances[object] = NEVER;
      if (lostTime < Integer.MAX_VALUE) {
        change(lostTime, object, NEVER);
      }
    }

    /** An object came to a distance, if it was not lost before. */
    private void approach(int time, int object, long distance) {
      if (time < lostTimes[object]) {
        change(time, object, distance);
      }
    }

    private void change(int time, int object, long distance) {
      if (count == keys.length) {
        keys = Arrays.copyOf(keys, 2 * count);
        objects = Arrays.copyOf(objects, 2 * count);
        changes = Arrays.copyOf(changes, 2 * count);
      }
      keys[count] = (long) time << Integer.SIZE | count;
      objects[count] = object;
      changes[count] = distance;
      count++;
    }

    /** The best object at the end. */
    private int best() {
      Arrays.sort(keys, 0, count);
      PriorityQueue<Near> present =
          new PriorityQueue<>(
              Comparator.comparingLong(Near::distance).thenComparingInt(Near::object));
      int best = NONE;
      for (int i = 0; i < count; i++) {
        int object = objects[(int) keys[i]];
        long distance = changes[(int) keys[i]];
        if (distance == NEVER) {
          distances[object] = NEVER;
          if (object == best) {
            while (!present.isEmpty() && isOutdated(present.peek())) {
              present.remove();
            }
            best = present.isEmpty() ? NONE : present.peek().object;
          }
        } else if (distance < distances[object]) {
          distances[object] = distance;
          present.add(new Near(distance, object));
          best = best == NONE || distance < distances[best] ? object : best;
        }
      }
      return best;
    }

    private boolean isOutdated(Near near) {
      return distances[near.object] != near.distance;
    }
  }

  /** One plan in the making. */
  private static final class Run {
    // By tensor: its object, when it came there, and its neighbours in it.
    private final int[] objectIds;
    private final int[] times;
    private final int[] before;
    private final int[] after;
    private int objectCount;
    private int placed;
    private final Side early;
    private final Side late;
    private final PriorityQueue<Candidate> candidates;
    private final History history;

    private Run(Lives lives) {
      objectIds = new int[lives.count()];
      Arrays.fill(objectIds, NONE);
      times = new int[lives.count()];
      before = new int[lives.count()];
      after = new int[lives.count()];
      early = new Side(lives, false);
      late = new Side(lives, true);
      Comparator<Candidate> bySize = Comparator.comparingLong(c -> -lives.size(c.tensor));
      candidates =
          new PriorityQueue<>(
              Comparator.comparingLong(Candidate::distance)
                  .thenComparing(bySize)
                  .thenComparingInt(Candidate::tensor));
      history = new History(lives.count());
    }

    /** Places the tensors of a position, which come the largest first. */
    private void place(int[] position) {
      candidates.clear();
      early.await(position);
      late.await(position);
      for (int tensor : position) {
        Interrupts.check();
        addCandidate(ofTensor(tensor));
      }
      int largest = 0;
      for (int i = 0; i < position.length; i++) {
        Interrupts.check();
        int tensor = nearest();
        while (tensor == NONE) {
          tensor = isPlaced(position[largest]) ? NONE : position[largest];
          largest++;
        }
        place(tensor);
      }
    }

    private boolean isPlaced(int tensor) {
      return objectIds[tensor] != NONE;
    }

    private long distance(int tensor) {
      return Math.min(
          early.distance(early.nearest(tensor), tensor),
          late.distance(late.nearest(tensor), tensor));
    }

    private Candidate ofTensor(int tensor) {
      long distance = distance(tensor);
      return distance == NEVER ? null : new Candidate(distance, tensor, null, NONE);
    }

    private void addCandidate(Candidate candidate) {
      if (candidate != null) {
        candidates.add(candidate);
        if (candidate.side != null) {
          candidate.side.latest[candidate.end] = candidate;
        }
      }
    }

    /** The tensor that waits nearest to an object; {@link #NONE} if none fits any. */
    private int nearest() {
      while (!candidates.isEmpty()) {
        Candidate first = candidates.element();
        Candidate now = null;
        if (first.side == null) {
          now = isPlaced(first.tensor) ? null : ofTensor(first.tensor);
        } else if (first.equals(first.side.latest[first.end])) {
          now = first.side.candidate(first.side.ends[first.end]);
        }
        if (first.equals(now)) {
          // It stays: the same end may have a next one.
          return first.tensor;
        }
        candidates.remove();
        addCandidate(now);
      }
      return NONE;
    }

    private void place(int tensor) {
      long distance = distance(tensor);
      int object = distance == NEVER ? objectCount++ : bestObject(tensor, distance);
      before[tensor] = NONE;
      after[tensor] = NONE;
      if (distance < NEVER) {
        int neighbour = tied(early, tensor, distance, object, true);
        if (neighbour != NONE) {
          before[tensor] = neighbour;
          after[tensor] = after[neighbour];
        } else {
          after[tensor] = tied(late, tensor, distance, object, true);
          before[tensor] = before[after[tensor]];
        }
      }
      objectIds[tensor] = object;
      times[tensor] = placed++;
      early.setGap(tensor, after[tensor]);
      late.setGap(tensor, before[tensor]);
      if (before[tensor] != NONE) {
        after[before[tensor]] = tensor;
        early.setGap(before[tensor], tensor);
      }
      if (after[tensor] != NONE) {
        before[after[tensor]] = tensor;
        late.setGap(after[tensor], tensor);
      }
      early.stopWaiting(tensor);
      late.stopWaiting(tensor);
      addCandidate(early.candidate(early.end(tensor)));
      addCandidate(late.candidate(late.end(tensor)));
    }

    /**
     * A life at a distance from a tensor with a gap that it fits.
     *
     * @param isSame whether it is to be in the object or in another one
     * @return {@link #NONE} if there is none
     */
    private int tied(Side side, int tensor, long distance, int object, boolean isSame) {
      int place = side.nearest(tensor);
      while (side.distance(place, tensor) == distance) {
        int life = side.byEnd[place];
        if ((objectIds[life] == object) == isSame) {
          return life;
        }
        place = side.nextFrom(place + 1, tensor);
      }
      return NONE;
    }

    /** The best of the objects at a distance, which is the least. */
    private int bestObject(int tensor, long distance) {
      int some = tied(early, tensor, distance, NONE, false);
      some = objectIds[some == NONE ? tied(late, tensor, distance, NONE, false) : some];
      if (tied(early, tensor, distance, some, false) == NONE
          && tied(late, tensor, distance, some, false) == NONE) {
        return some;
      }
      history.clear();
      addHistory(early, after, tensor, distance);
      addHistory(late, before, tensor, distance);
      return history.best();
    }

    private void addHistory(Side side, int[] next, int tensor, long distance) {
      int place = side.placeBefore(side.begin(tensor));
      for (; place < side.ends.length && side.distance(place, tensor) <= distance; place++) {
        int life = side.byEnd[place];
        int object = objectIds[life];
        if (object != NONE) {
          if (!history.has(object)) {
            history.add(object, lostTime(side, next, tensor, life));
          }
          history.approach(times[life], object, side.distance(place, tensor));
        }
      }
    }

    /** When the first tensor that lives with this one came into the object of a life before it. */
    private int lostTime(Side side, int[] next, int tensor, int life) {
      int first = Integer.MAX_VALUE;
      int other = next[life];
      while (other != NONE && side.begin(other) <= side.end(tensor)) {
        if (side.end(other) >= side.begin(tensor)) {
          first = Math.min(first, times[other]);
        }
        other = next[other];
      }
      return first;
    }
  }

  @Override
  public ObjectsAssignment assign(Lives lives) {
    Run run = new Run(lives);
    for (int[] position : positions(lives)) {
      run.place(position);
    }
    return ObjectPool.assignment(lives, run.objectIds, run.objectCount);
  }

  /** The tensors of every position that has any, by position; in each the largest first. */
  private static List<int[]> positions(Lives lives) {
    long[] maxima = lives.positionalMaxima();
    int[] bySize = lives.bySizeDescending();
    List<int[]> positions = new ArrayList<>();
    int end;
    for (int begin = 0; begin < bySize.length; begin = end) {
      int position = position(maxima, lives.size(bySize[begin]));
      end = begin + 1;
      while (end < bySize.length && position(maxima, lives.size(bySize[end])) == position) {
        end++;
      }
      positions.add(Arrays.copyOfRange(bySize, begin, end));
    }
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
