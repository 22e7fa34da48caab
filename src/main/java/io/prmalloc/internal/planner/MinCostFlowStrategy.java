package io.prmalloc.internal.planner;

import io.prmalloc.internal.planner.index.Lives;
import io.prmalloc.plan.MemoryStrategy;
import io.prmalloc.plan.ObjectsAssignment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;

/**
 * {@link MemoryStrategy#MIN_COST_FLOW}.
 *
 * <p>Threading: stateless.
 */
public final class MinCostFlowStrategy implements ObjectsStrategy {

  // Every tensor is two vertices: on the left it hands an object on, on the right it takes one.
  //
  //     source --> left(i)              1 unit, free: i's object may be handed on once
  //     left(j) --> right(i)            1 unit, costs what j's object must grow for i; only if j is
  //                                     dead when i is born
  //     source --> right(i)             1 unit, costs i's size: a new object
  //     right(i) --> sink               1 unit, free: i takes one object
  //
  // n units reach the sink, and of all flows that do so the cheapest says which tensor follows
  // which. (An object that grew before is counted at the size of its last tensor, so the cost is
  // not quite the total: the strategy is a heuristic in spite of the exact flow.)
  //
  // There are many cheapest flows; which one comes out is decided by the order of the edges and of
  // the search. So both are as in TensorFlow Lite: edges per record in the order above with the
  // dead by (last task, record), each followed by its reverse; one shortest path at a time, found
  // in rounds: a vertex whose distance shrinks is looked at in the next round, once.
  //
  // n paths, each over up to n²/2 edges in a few rounds. Edge e and its reverse are e and e ^ 1.

  // Where all tensors are alive at once there are no edges from left to right, so each tensor gets
  // an object of its own, and no flow is needed to know that, however many there are.

  /** More would take minutes, and gigabytes, unless all of them are alive at once. */
  public static final int MAX_TENSORS = 2_000;

  @Override
  public ObjectsAssignment assign(Lives lives) {
    Interrupts.check();
    if (lives.areAllAliveAtOnce()) {
      return new NaiveStrategy().assign(lives);
    }
    if (lives.count() > MAX_TENSORS) {
      throw new IllegalArgumentException(
          "min-cost-flow takes at most "
              + MAX_TENSORS
              + " tensors, for its cost grows with their cube; there are "
              + lives.count());
    }
    Network network = new Network(lives);
    while (network.sendOne()) {
      Interrupts.check();
    }
    return network.toAssignment();
  }

  private static final class Network {
    private final Lives lives;
    private final int count;
    private final int source;
    private final int sink;
    private final List<Edges> edgesFrom = new ArrayList<>();
    // By edge: where it ends, what it can still carry, what it costs.
    private int[] ends = new int[1024];
    private boolean[] open = new boolean[1024];
    private long[] costs = new long[1024];
    private int edgeCount;
    // Of vertices that are reached; a distance may be as large as a long is.
    private final long[] distances;
    private final boolean[] reached;
    private final int[] edgeTo;

    private Network(Lives lives) {
      this.lives = lives;
      count = lives.count();
      source = 2 * count;
      sink = source + 1;
      for (int vertex = 0; vertex <= sink; vertex++) {
        edgesFrom.add(new Edges());
      }
      distances = new long[sink + 1];
      reached = new boolean[sink + 1];
      edgeTo = new int[sink + 1];
      Comparator<Integer> byDeath = Comparator.comparingLong(lives::lastTask);
      PriorityQueue<Integer> live =
          new PriorityQueue<>(byDeath.thenComparing(Comparator.naturalOrder()));
      List<Integer> dead = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        while (!live.isEmpty() && lives.lastTask(live.peek()) < lives.firstTask(i)) {
          dead.add(live.poll());
        }
        live.add(i);
        addEdge(source, i, 0);
        addEdge(right(i), sink, 0);
        addEdge(source, right(i), lives.size(i));
        for (int before : dead) {
          addEdge(before, right(i), Math.max(0, lives.size(i) - lives.size(before)));
        }
      }
    }

    private int right(int tensor) {
      return count + tensor;
    }

    private void addEdge(int from, int to, long cost) {
      addHalf(from, to, true, cost);
      addHalf(to, from, false, -cost);
    }

    private void addHalf(int from, int to, boolean isOpen, long cost) {
      if (edgeCount == ends.length) {
        ends = Arrays.copyOf(ends, 2 * edgeCount);
        open = Arrays.copyOf(open, 2 * edgeCount);
        costs = Arrays.copyOf(costs, 2 * edgeCount);
      }
      ends[edgeCount] = to;
      open[edgeCount] = isOpen;
      costs[edgeCount] = cost;
      edgesFrom.get(from).add(edgeCount++);
    }

    /** Sends one unit along the cheapest path; false if none is left. */
    private boolean sendOne() {
      findDistances();
      if (!reached[sink]) {
        return false;
      }
      for (int vertex = sink; vertex != source; vertex = ends[edgeTo[vertex] ^ 1]) {
        open[edgeTo[vertex]] = false;
        open[edgeTo[vertex] ^ 1] = true;
      }
      return true;
    }

    private void findDistances() {
      Arrays.fill(reached, false);
      reached[source] = true;
      distances[source] = 0;
      int[] lastQueued = new int[sink + 1];
      ArrayDeque<Integer> queue = new ArrayDeque<>();
      queue.add(source);
      for (int round = 1; !queue.isEmpty(); round++) {
        ArrayDeque<Integer> next = new ArrayDeque<>();
        for (int vertex : queue) {
          Edges edges = edgesFrom.get(vertex);
          for (int i = 0; i < edges.count; i++) {
            int edge = edges.ids[i];
            long distance = distances[vertex] + costs[edge];
            if (open[edge] && (!reached[ends[edge]] || distance < distances[ends[edge]])) {
              reached[ends[edge]] = true;
              distances[ends[edge]] = distance;
              edgeTo[ends[edge]] = edge;
              if (lastQueued[ends[edge]] != round) {
                lastQueued[ends[edge]] = round;
                next.add(ends[edge]);
              }
            }
          }
        }
        queue = next;
      }
    }

    /** Chains of full edges are the objects, in the order of the source's edges. */
    private ObjectsAssignment toAssignment() {
      int[] objectIds = new int[count];
      int objects = 0;
      Edges starts = edgesFrom.get(source);
      for (int i = 0; i < starts.count; i++) {
        int to = ends[starts.ids[i]];
        if (to >= count && !open[starts.ids[i]]) {
          for (int tensor = to - count; tensor >= 0; tensor = follower(tensor)) {
            objectIds[tensor] = objects;
          }
          objects++;
        }
      }
      return ObjectPool.assignment(lives, objectIds, objects);
    }

    /** The tensor that takes this one's object, or −1. */
    private int follower(int tensor) {
      Edges edges = edgesFrom.get(tensor);
      for (int i = 0; i < edges.count; i++) {
        int edge = edges.ids[i];
        if (!open[edge] && ends[edge] != source) {
          return ends[edge] - count;
        }
      }
      return -1;
    }
  }

  /** The edges that leave a vertex, in the order they were added. */
  private static final class Edges {
    private int[] ids = new int[8];
    private int count;

    private void add(int edge) {
      if (count == ids.length) {
        ids = Arrays.copyOf(ids, 2 * count);
      }
      ids[count++] = edge;
    }
  }
}
