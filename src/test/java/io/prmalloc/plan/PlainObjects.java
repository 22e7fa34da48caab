package io.prmalloc.plan;

import io.prmalloc.internal.planner.index.ReallocationGraph;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The strategies for objects exactly as the design page describes them, step by step and without
 * any index, so slow: what the fast ones are compared with.
 */
final class PlainObjects {

  private final List<Integer> order;
  private final List<TensorUsageRecord> records;
  private final int[] ids;
  private final List<Long> sizes = new ArrayList<>();

  private PlainObjects(List<TensorUsageRecord> given) {
    order =
        IntStream.range(0, given.size())
            .boxed()
            .sorted(Comparator.comparingLong(i -> given.get(i).firstTask()))
            .toList();
    records = order.stream().map(given::get).toList();
    ids = new int[given.size()];
    Arrays.fill(ids, -1);
  }

  static ObjectsAssignment assign(MemoryStrategy strategy, List<TensorUsageRecord> given) {
    PlainObjects plain = new PlainObjects(given);
    switch (strategy) {
      case NAIVE -> plain.naive();
      case EQUALITY -> plain.equality();
      case GREEDY_IN_ORDER -> plain.inOrder(null);
      case GREEDY_BY_BREADTH -> plain.byBreadth();
      case GREEDY_BY_SIZE -> plain.bySize();
      case GREEDY_BEST -> {
        ObjectsAssignment bySize = assign(MemoryStrategy.GREEDY_BY_SIZE, given);
        ObjectsAssignment byBreadth = assign(MemoryStrategy.GREEDY_BY_BREADTH, given);
        return byBreadth.totalBytes() < bySize.totalBytes() ? byBreadth : bySize;
      }
      case MIN_COST_FLOW -> plain.minCostFlow();
    }
    return plain.answer();
  }

  static ObjectsAssignment greedyInOrder(List<TensorUsageRecord> given, ReallocationGraph graph) {
    PlainObjects plain = new PlainObjects(given);
    plain.inOrder(graph);
    return plain.answer();
  }

  private ObjectsAssignment answer() {
    int[] answer = new int[ids.length];
    for (int i = 0; i < ids.length; i++) {
      answer[order.get(i)] = ids[i];
    }
    return ObjectsAssignment.of(answer, sizes.stream().mapToLong(Long::longValue).toArray());
  }

  private long size(int tensor) {
    return records.get(tensor).sizeBytes();
  }

  private void put(int tensor, int object) {
    if (object == sizes.size()) {
      sizes.add(size(tensor));
    }
    sizes.set(object, Math.max(sizes.get(object), size(tensor)));
    ids[tensor] = object;
  }

  private int holder(int object) {
    int holder = -1;
    for (int i = 0; i < ids.length; i++) {
      if (ids[i] == object) {
        holder = i;
      }
    }
    return holder;
  }

  private void naive() {
    for (int i = 0; i < ids.length; i++) {
      put(i, i);
    }
  }

  /** Objects that are free when a tensor is born, in the order they were freed. */
  private List<Integer> free(int tensor) {
    return IntStream.range(0, sizes.size())
        .boxed()
        .filter(o -> records.get(holder(o)).lastTask() < records.get(tensor).firstTask())
        .sorted(
            Comparator.<Integer>comparingLong(o -> freedAt(o))
                .thenComparingLong(o -> records.get(holder(o)).lastTask())
                .thenComparingInt(o -> o))
        .toList();
  }

  /** The first record whose birth sees an object free. */
  private int freedAt(int object) {
    int at = 0;
    while (records.get(at).firstTask() <= records.get(holder(object)).lastTask()) {
      at++;
    }
    return at;
  }

  private void equality() {
    for (int i = 0; i < ids.length; i++) {
      int object = sizes.size();
      for (int candidate : free(i)) {
        if (sizes.get(candidate) == size(i)) {
          object = candidate;
        }
      }
      put(i, object);
    }
  }

  private void inOrder(ReallocationGraph graph) {
    for (int i = 0; i < ids.length; i++) {
      List<Integer> free = new ArrayList<>(free(i));
      free.sort(Comparator.<Integer>comparingLong(sizes::get).thenComparingInt(o -> o));
      int object = sizes.size();
      if (graph != null) {
        long best = Long.MAX_VALUE;
        for (int candidate : free) {
          long difference = Math.abs(sizes.get(candidate) - size(i));
          if (difference < best
              && graph.followers().get(order.get(holder(candidate))).contains(order.get(i))) {
            best = difference;
            object = candidate;
          }
        }
      } else {
        int large = 0;
        while (large < free.size() && sizes.get(free.get(large)) < size(i)) {
          large++;
        }
        if (large < free.size()) {
          object = free.get(large);
        }
        if (large > 0) {
          int small = free.get(large - 1);
          if (large == free.size() || size(i) - sizes.get(small) < sizes.get(object) - size(i)) {
            object = small;
          }
        }
      }
      put(i, object);
    }
  }

  private boolean fits(int tensor, int object) {
    for (int i = 0; i < ids.length; i++) {
      if (ids[i] == object && records.get(i).overlaps(records.get(tensor))) {
        return false;
      }
    }
    return true;
  }

  private List<List<Integer>> profiles() {
    long tasks = records.stream().mapToLong(r -> r.lastTask() + 1).max().orElse(0);
    List<List<Integer>> profiles = new ArrayList<>();
    for (long task = 0; task < tasks; task++) {
      List<Integer> profile = new ArrayList<>();
      for (int i = 0; i < ids.length; i++) {
        if (records.get(i).firstTask() <= task && task <= records.get(i).lastTask()) {
          profile.add(i);
        }
      }
      profile.sort(Comparator.<Integer>comparingLong(this::size).reversed());
      profiles.add(profile);
    }
    return profiles;
  }

  private void byBreadth() {
    List<List<Integer>> profiles = profiles();
    profiles.sort(
        Comparator.<List<Integer>>comparingLong(p -> p.stream().mapToLong(this::size).sum())
            .reversed());
    for (List<Integer> profile : profiles) {
      for (int tensor : profile) {
        if (ids[tensor] < 0) {
          put(tensor, byBreadthObject(tensor));
        }
      }
    }
  }

  private int byBreadthObject(int tensor) {
    int smallestLarge = -1;
    int largestSmall = -1;
    for (int object = 0; object < sizes.size(); object++) {
      if (!fits(tensor, object)) {
        continue;
      }
      if (sizes.get(object) >= size(tensor)) {
        if (smallestLarge < 0 || sizes.get(object) < sizes.get(smallestLarge)) {
          smallestLarge = object;
        }
      } else if (largestSmall < 0 || sizes.get(object) > sizes.get(largestSmall)) {
        largestSmall = object;
      }
    }
    if (smallestLarge >= 0) {
      return smallestLarge;
    }
    return largestSmall >= 0 ? largestSmall : sizes.size();
  }

  private void bySize() {
    List<Long> maxima = new ArrayList<>();
    for (List<Integer> profile : profiles()) {
      for (int k = 0; k < profile.size(); k++) {
        if (k == maxima.size()) {
          maxima.add(0L);
        }
        maxima.set(k, Math.max(maxima.get(k), size(profile.get(k))));
      }
    }
    int count = ids.length;
    long never = Long.MAX_VALUE;
    long[][] distances = new long[count][count];
    long[] best = new long[count];
    int[] bestObject = new int[count];
    Arrays.fill(best, never);
    for (int placed = 0; placed < count; placed++) {
      int next = -1;
      for (int i = 0; i < count; i++) {
        if (ids[i] < 0 && (next < 0 || isBefore(i, next, maxima, best))) {
          next = i;
        }
      }
      boolean isNew = best[next] == never;
      int object = isNew ? sizes.size() : bestObject[next];
      put(next, object);
      for (int i = 0; i < count; i++) {
        if (ids[i] >= 0 || (!isNew && distances[i][object] == never)) {
          continue;
        }
        long distance = distance(records.get(i), records.get(next));
        distances[i][object] =
            isNew || distance == never ? distance : Math.min(distances[i][object], distance);
        if (distance == never && !isNew && bestObject[i] == object) {
          best[i] = never;
          for (int o = 0; o < sizes.size(); o++) {
            if (distances[i][o] < best[i]) {
              best[i] = distances[i][o];
              bestObject[i] = o;
            }
          }
        }
        if (distance < best[i]) {
          best[i] = distance;
          bestObject[i] = object;
        }
      }
    }
  }

  private boolean isBefore(int i, int other, List<Long> maxima, long[] best) {
    int position = position(i, maxima);
    int otherPosition = position(other, maxima);
    if (position != otherPosition) {
      return position < otherPosition;
    }
    return best[i] != best[other] ? best[i] < best[other] : size(i) > size(other);
  }

  private int position(int tensor, List<Long> maxima) {
    int position = 0;
    while (position < maxima.size() && maxima.get(position) >= size(tensor)) {
      position++;
    }
    return position - 1;
  }

  private static long distance(TensorUsageRecord one, TensorUsageRecord other) {
    if (one.overlaps(other)) {
      return Long.MAX_VALUE;
    }
    return Math.max(one.firstTask() - other.lastTask(), other.firstTask() - one.lastTask());
  }

  /** The flow by a matrix of capacities and lists of edges in order; rounds as in the rule. */
  private void minCostFlow() {
    int count = ids.length;
    int source = 2 * count;
    int sink = source + 1;
    // Each edge is from, to, capacity, cost; edge e ^ 1 is its reverse.
    List<long[]> edges = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      int born = i;
      addEdge(edges, source, i, 0);
      addEdge(edges, count + i, sink, 0);
      addEdge(edges, source, count + i, size(i));
      IntStream.range(0, i)
          .boxed()
          .filter(j -> records.get(j).lastTask() < records.get(born).firstTask())
          .sorted(
              Comparator.<Integer>comparingLong(j -> diedAt(j))
                  .thenComparingLong(j -> records.get(j).lastTask())
                  .thenComparingInt(j -> j))
          .forEachOrdered(j -> addEdge(edges, j, count + born, Math.max(0, size(born) - size(j))));
    }
    while (augment(edges, source, sink)) {
      // One unit more.
    }
    for (int e = 0; e < edges.size(); e += 2) {
      long[] edge = edges.get(e);
      if (edge[0] == source && edge[1] >= count && edge[2] == 0) {
        int object = sizes.size();
        for (int tensor = (int) edge[1] - count; tensor >= 0; tensor = follower(edges, tensor)) {
          put(tensor, object);
        }
      }
    }
  }

  private int diedAt(int tensor) {
    int at = 0;
    while (records.get(at).firstTask() <= records.get(tensor).lastTask()) {
      at++;
    }
    return at;
  }

  private int follower(List<long[]> edges, int tensor) {
    for (int e = 0; e < edges.size(); e += 2) {
      if (edges.get(e)[0] == tensor && edges.get(e)[2] == 0) {
        return (int) edges.get(e)[1] - ids.length;
      }
    }
    return -1;
  }

  private static void addEdge(List<long[]> edges, int from, int to, long cost) {
    edges.add(new long[] {from, to, 1, cost});
    edges.add(new long[] {to, from, 0, -cost});
  }

  private static boolean augment(List<long[]> edges, int source, int sink) {
    long far = Long.MAX_VALUE;
    long[] distance = new long[sink + 1];
    int[] by = new int[sink + 1];
    Arrays.fill(distance, far);
    distance[source] = 0;
    List<Integer> queue = List.of(source);
    while (!queue.isEmpty()) {
      List<Integer> next = new ArrayList<>();
      for (int vertex : queue) {
        for (int e = 0; e < edges.size(); e++) {
          long[] edge = edges.get(e);
          int to = (int) edge[1];
          if (edge[0] == vertex && edge[2] > 0 && distance[vertex] + edge[3] < distance[to]) {
            distance[to] = distance[vertex] + edge[3];
            by[to] = e;
            if (!next.contains(to)) {
              next.add(to);
            }
          }
        }
      }
      queue = next;
    }
    if (distance[sink] == far) {
      return false;
    }
    for (int vertex = sink; vertex != source; vertex = (int) edges.get(by[vertex])[0]) {
      edges.get(by[vertex])[2]--;
      edges.get(by[vertex] ^ 1)[2]++;
    }
    return true;
  }
}
