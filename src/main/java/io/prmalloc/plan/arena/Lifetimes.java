package io.prmalloc.plan.arena;

import io.prmalloc.plan.arena.Graph.Node;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/**
 * The lifetimes of a graph's tensors, as first and last node.
 *
 * <p>Threading: immutable.
 */
final class Lifetimes {

  // References are counted as TensorFlow Lite does: one for each time a node names a tensor as an
  // input, and one that is never given back for outputs, variables and, if they are preserved,
  // inputs. A tensor dies at the node that gives its last reference back. One that no node reads
  // never has a reference to give back, so it is never freed.

  /** The birth of a tensor that never gets memory. */
  static final int UNBORN = Integer.MAX_VALUE;

  private final Graph graph;
  private final int[] births;
  private final int[] deaths;
  private final List<List<Integer>> bornAt;
  private final List<Integer> fixedTensors;

  Lifetimes(Graph graph, ArenaOptions options) {
    this.graph = graph;
    int tensors = graph.tensors().size();
    this.births = new int[tensors];
    this.deaths = new int[tensors];
    Arrays.fill(births, UNBORN);
    Arrays.fill(deaths, ArenaAlloc.FOREVER);
    bear(0, graph.inputs());
    bear(0, graph.variables());
    int[] references = references(options);
    for (int i = 0; i < graph.nodes().size(); i++) {
      Node node = graph.nodes().get(i);
      bear(i, node.outputs());
      if (!options.preserveIntermediates()) {
        release(i, node.inputs(), references);
      }
      bear(i, node.temporaries());
      if (!options.preserveIntermediates()) {
        endAt(i, node.temporaries());
      }
    }
    this.bornAt = byBirth();
    this.fixedTensors =
        arenaTensors().stream()
            .filter(tensor -> graph.tensors().get(tensor).fixedOffset() != Graph.ANYWHERE)
            .toList();
  }

  private int[] references(ArenaOptions options) {
    int[] references = new int[births.length];
    count(graph.outputs(), references);
    count(graph.variables(), references);
    if (options.preserveInputs()) {
      count(graph.inputs(), references);
    }
    for (Node node : graph.nodes()) {
      count(node.inputs(), references);
    }
    return references;
  }

  private static void count(List<Integer> tensors, int[] references) {
    for (int tensor : tensors) {
      if (tensor != Graph.ABSENT) {
        references[tensor]++;
      }
    }
  }

  private void bear(int node, List<Integer> tensors) {
    for (int tensor : tensors) {
      if (tensor != Graph.ABSENT && births[tensor] == UNBORN) {
        births[tensor] = node;
      }
    }
  }

  private void release(int node, List<Integer> tensors, int[] references) {
    for (int tensor : tensors) {
      if (tensor != Graph.ABSENT && --references[tensor] == 0) {
        endAt(node, tensor);
      }
    }
  }

  private void endAt(int node, List<Integer> tensors) {
    for (int tensor : tensors) {
      if (tensor != Graph.ABSENT) {
        endAt(node, tensor);
      }
    }
  }

  private void endAt(int node, int tensor) {
    if (births[tensor] != UNBORN) {
      deaths[tensor] = node;
    }
  }

  private List<List<Integer>> byBirth() {
    List<List<Integer>> lists = new ArrayList<>();
    for (int tensor = 0; tensor < births.length; tensor++) {
      TensorKind kind = graph.tensors().get(tensor).kind();
      if (births[tensor] == UNBORN || (kind != TensorKind.ARENA && kind != TensorKind.PERSISTENT)) {
        continue;
      }
      while (lists.size() <= births[tensor]) {
        lists.add(new ArrayList<>());
      }
      lists.get(births[tensor]).add(tensor);
    }
    return lists;
  }

  /** The node a tensor is born at, or {@link #UNBORN}. */
  int birth(int tensor) {
    return births[tensor];
  }

  /** The last node a tensor lives at, or {@link ArenaAlloc#FOREVER}. */
  int death(int tensor) {
    return deaths[tensor];
  }

  /** The last node there is; 0 in a graph without nodes, whose inputs are born all the same. */
  int lastNode() {
    return Math.max(0, graph.nodes().size() - 1);
  }

  /** The tensors of the arena that are ever born, by birth and then by index. */
  List<Integer> arenaTensors() {
    return bornAt.stream()
        .flatMap(List::stream)
        .filter(tensor -> graph.tensors().get(tensor).kind() == TensorKind.ARENA)
        .toList();
  }

  /** The tensors of the arena that are ever born and have fixed offsets, in the same order. */
  List<Integer> fixedTensors() {
    return fixedTensors;
  }

  /**
   * The tensors of both arenas that are born from one node to another, in the order in which they
   * are placed: first those that live through the whole run, by index; then the largest first, of
   * equal ones the first born, then the lowest index.
   */
  List<Integer> placementOrder(int firstNode, int lastNode) {
    List<Integer> order = new ArrayList<>();
    for (int node = firstNode; node <= lastNode && node < bornAt.size(); node++) {
      order.addAll(bornAt.get(node));
    }
    order.sort(
        Comparator.comparing((Integer tensor) -> !livesThroughout(tensor))
            .thenComparing(tensor -> livesThroughout(tensor) ? 0 : -bytes(tensor))
            .thenComparing(tensor -> livesThroughout(tensor) ? 0 : births[tensor])
            .thenComparing(tensor -> tensor));
    return order;
  }

  private boolean livesThroughout(int tensor) {
    return births[tensor] == 0 && deaths[tensor] == ArenaAlloc.FOREVER;
  }

  private long bytes(int tensor) {
    return graph.tensors().get(tensor).bytes();
  }
}
