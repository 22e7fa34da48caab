package io.prmalloc.plan.arena;

import io.prmalloc.plan.arena.Graph.Node;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A second, simple and slow arena planner for comparison: it finds a life by a search through the
 * whole graph for each tensor, it never purges anything, and every search sorts all places again.
 *
 * <p>Threading: one thread at a time.
 */
final class NaivePlanner {

  /** A place: begin and end in bytes, first and last node. */
  record Place(long begin, long end, int first, int last) {}

  private final Graph graph;
  private final ArenaOptions options;
  private final TreeMap<Integer, Place> arena = new TreeMap<>();
  private final TreeMap<Integer, Place> persistent = new TreeMap<>();
  private long arenaBytes;
  private long persistentBytes;

  NaivePlanner(Graph graph, ArenaOptions options) {
    this.graph = graph;
    this.options = options;
  }

  /** The first node a tensor lives at, or −1. */
  int first(int tensor) {
    if (graph.inputs().contains(tensor) || graph.variables().contains(tensor)) {
      return 0;
    }
    for (int i = 0; i < graph.nodes().size(); i++) {
      Node node = graph.nodes().get(i);
      if (node.outputs().contains(tensor) || node.temporaries().contains(tensor)) {
        return i;
      }
    }
    return -1;
  }

  /** The last node a tensor lives at. */
  int last(int tensor) {
    if (options.preserveIntermediates()
        || graph.outputs().contains(tensor)
        || graph.variables().contains(tensor)
        || (options.preserveInputs() && graph.inputs().contains(tensor))) {
      return Integer.MAX_VALUE;
    }
    int last = Integer.MAX_VALUE;
    for (int i = 0; i < graph.nodes().size(); i++) {
      Node node = graph.nodes().get(i);
      if (node.inputs().contains(tensor) || node.temporaries().contains(tensor)) {
        last = i;
      }
    }
    return last;
  }

  void execute(int from, int to) {
    List<Integer> throughout = new ArrayList<>();
    List<Integer> others = new ArrayList<>();
    for (int tensor = 0; tensor < graph.tensors().size(); tensor++) {
      int first = first(tensor);
      if (first >= from && first <= to) {
        (first == 0 && last(tensor) == Integer.MAX_VALUE ? throughout : others).add(tensor);
        arena.remove(tensor);
      }
    }
    for (int tensor = 0; tensor < graph.tensors().size(); tensor++) {
      long offset = graph.tensors().get(tensor).fixedOffset();
      if (offset != Graph.ANYWHERE && first(tensor) >= 0) {
        long begin = bytes(tensor) == 0 ? 0 : offset;
        long end = begin + bytes(tensor);
        arena.put(tensor, new Place(begin, end, first(tensor), last(tensor)));
        arenaBytes = Math.max(arenaBytes, end);
      }
    }
    others.sort(Comparator.comparingLong((Integer t) -> -bytes(t)).thenComparingInt(this::first));
    throughout.addAll(others);
    for (int tensor : throughout) {
      TensorKind kind = graph.tensors().get(tensor).kind();
      if (kind == TensorKind.ARENA && !arena.containsKey(tensor)) {
        arenaBytes = Math.max(arenaBytes, place(arena, tensor, last(tensor)));
      } else if (kind == TensorKind.PERSISTENT && !persistent.containsKey(tensor)) {
        persistentBytes = Math.max(persistentBytes, place(persistent, tensor, Integer.MAX_VALUE));
      }
    }
  }

  private long place(Map<Integer, Place> places, int tensor, int last) {
    int first = first(tensor);
    long bytes = bytes(tensor);
    if (bytes == 0) {
      places.put(tensor, new Place(0, 0, first, last));
      return 0;
    }
    List<Place> near = new ArrayList<>();
    for (Place place : places.values()) {
      if (place.end > place.begin && place.first <= last && first <= place.last) {
        near.add(place);
      }
    }
    near.sort(Comparator.comparingLong(Place::begin));
    long running = 0;
    long chosen = -1;
    long remembered = Long.MAX_VALUE;
    for (Place place : near) {
      long begin = aligned(running);
      if (remembered != 0 && begin + bytes <= place.begin && place.begin - begin < remembered) {
        chosen = begin;
        remembered = place.begin - running;
      }
      running = Math.max(running, place.end);
    }
    long begin = chosen >= 0 ? chosen : aligned(running);
    places.put(tensor, new Place(begin, begin + bytes, first, last));
    return begin + bytes;
  }

  private long aligned(long offset) {
    long alignment = options.tensorAlignment();
    return (offset + alignment - 1) / alignment * alignment;
  }

  private long bytes(int tensor) {
    return graph.tensors().get(tensor).bytes();
  }

  void resetAfter(int node) {
    arena.values().removeIf(place -> place.first > node);
  }

  /** The place of a tensor in its arena, or null. */
  Place place(int tensor) {
    return graph.tensors().get(tensor).kind() == TensorKind.PERSISTENT
        ? persistent.get(tensor)
        : arena.get(tensor);
  }

  long arenaBytes() {
    return arenaBytes;
  }

  long persistentBytes() {
    return persistentBytes;
  }
}
