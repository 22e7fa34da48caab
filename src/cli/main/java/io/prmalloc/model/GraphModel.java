package io.prmalloc.model;

import io.prmalloc.plan.arena.Graph;
import io.prmalloc.plan.arena.Graph.Node;
import io.prmalloc.plan.arena.Graph.Tensor;
import io.prmalloc.plan.arena.TensorKind;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * A model: its main graph, and those that nodes call, each with notes for people.
 *
 * <p>Threading: immutable.
 *
 * @param parts the graphs, the main one first; at least one; calls are never in a circle
 * @param alignment what the model's own engine makes every offset a multiple of: a power of two
 * @param warnings what is to be said of the model, one sentence each: a shape that is only assumed
 */
public record GraphModel(List<Part> parts, long alignment, List<String> warnings) {

  /** The alignment of a graph whose engine is not known. */
  private static final long ANY_ALIGNMENT = 4;

  /** The most nodes, and the most tensors, of {@link #whole}. */
  private static final int MAX_WHOLE = 1 << 18;

  /** How a tensor comes about, where the graph does not say it. */
  public enum Origin {
    /** As the graph has it. */
    GRAPH,
    /** A kernel writes it once, when the model is prepared, from constants. */
    PREPARED,
    /** No node writes it: working memory of the nodes that name it as an input. */
    SCRATCH,
    /** A node writes it and none reads it: it is alive at that node only. */
    UNREAD
  }

  /**
   * What people call a tensor's type and shape.
   *
   * <p>Threading: immutable.
   *
   * @param type {@code FLOAT32}; empty if unknown
   * @param shape {@code 1x96x96x3}; empty if unknown or a scalar
   * @param origin how it comes about
   */
  public record TensorNote(String type, String shape, Origin origin) {

    /** Nothing is known. */
    public static final TensorNote NONE = new TensorNote("", "", Origin.GRAPH);
  }

  /**
   * What a node is.
   *
   * <p>Threading: immutable.
   *
   * @param operator what it computes, {@code CONV_2D}; empty if unknown
   * @param calls the parts it runs, one after the other or one of them
   */
  public record NodeNote(String operator, List<Integer> calls) {

    /** Nothing is known. */
    public static final NodeNote NONE = new NodeNote("", List.of());

    /** Threading: any thread. */
    public NodeNote {
      calls = List.copyOf(calls);
    }
  }

  /**
   * One graph of a model.
   *
   * <p>Threading: immutable.
   *
   * @param name what people call it; may be empty
   * @param nodes a note for each node of the graph
   * @param tensors a note for each tensor of the graph
   */
  public record Part(String name, Graph graph, List<NodeNote> nodes, List<TensorNote> tensors) {

    /**
     * Threading: any thread.
     *
     * @throws IllegalArgumentException if there are more or fewer notes than nodes or tensors
     */
    public Part {
      nodes = List.copyOf(nodes);
      tensors = List.copyOf(tensors);
      if (nodes.size() != graph.nodes().size() || tensors.size() != graph.tensors().size()) {
        throw new IllegalArgumentException(
            "there are notes for "
                + nodes.size()
                + " nodes and "
                + tensors.size()
                + " tensors, of "
                + graph.nodes().size()
                + " and "
                + graph.tensors().size());
      }
    }
  }

  /** Threading: any thread. */
  public GraphModel {
    parts = List.copyOf(parts);
    warnings = List.copyOf(warnings);
  }

  /** A graph of which nothing else is known. Threading: any thread. */
  public static GraphModel of(Graph graph) {
    return of(graph, List.of());
  }

  /** As {@link #of(Graph)}, of which something is to be said. Threading: any thread. */
  public static GraphModel of(Graph graph, List<String> warnings) {
    List<NodeNote> nodes = graph.nodes().stream().map(node -> NodeNote.NONE).toList();
    List<TensorNote> tensors = graph.tensors().stream().map(tensor -> TensorNote.NONE).toList();
    return of(new Part("", graph, nodes, tensors), warnings);
  }

  /** A single graph, whose engine is not known. Threading: any thread. */
  public static GraphModel of(Part part, List<String> warnings) {
    return new GraphModel(List.of(part), ANY_ALIGNMENT, warnings);
  }

  /**
   * One part as a model of its own, whose calls are forgotten.
   *
   * <p>Threading: any thread.
   *
   * @throws IndexOutOfBoundsException if there is no such part
   */
  public GraphModel only(int index) {
    Part part = parts.get(index);
    List<NodeNote> nodes =
        part.nodes().stream().map(node -> new NodeNote(node.operator(), List.of())).toList();
    return new GraphModel(
        List.of(new Part(part.name(), part.graph(), nodes, part.tensors())), alignment, warnings);
  }

  /**
   * The most bytes that parts take at the same time if each has its own memory as long as it runs:
   * those of the calls that lead to a part, and its own. Of parts that a node calls one runs at a
   * time, and so does one of the parts that no node calls.
   *
   * <p>Threading: any thread.
   *
   * @param bytes the memory of each part
   */
  public long bytesAtOnce(List<Long> bytes) {
    long[] known = new long[parts.size()];
    Arrays.fill(known, -1);
    return IntStream.range(0, parts.size())
        .mapToLong(i -> bytesAtOnce(i, bytes, known))
        .max()
        .orElse(0);
  }

  private long bytesAtOnce(int part, List<Long> bytes, long[] known) {
    if (known[part] < 0) {
      long called = 0;
      for (int callee : callees(part)) {
        called = Math.max(called, bytesAtOnce(callee, bytes, known));
      }
      known[part] = bytes.get(part) + called;
    }
    return known[part];
  }

  private Set<Integer> callees(int part) {
    Set<Integer> callees = new LinkedHashSet<>();
    parts.get(part).nodes().forEach(node -> callees.addAll(node.calls()));
    return callees;
  }

  /**
   * The main graph with the graphs that it calls in it, as one run: where a node calls graphs,
   * their nodes run one after the other, each once, from copies of what the node reads; what they
   * leave is copied to what the node writes. The main graph's tensors keep their indices.
   *
   * <p>Source: TensorFlow Lite Micro counts the lives of all subgraphs along such a run.
   *
   * <p>Threading: any thread.
   *
   * @throws IllegalArgumentException if calls of calls make more than 2^18 nodes or tensors of it
   */
  public Graph whole() {
    Graph main = parts.get(0).graph();
    if (callees(0).isEmpty()) {
      return main;
    }
    Run run = new Run();
    run.add(0);
    run.walk(0, 0);
    return new Graph(run.tensors, run.nodes, main.inputs(), main.outputs(), run.variables);
  }

  /** A run that is being put together. Threading: one thread at a time. */
  private final class Run {

    private final List<Tensor> tensors = new ArrayList<>();
    private final List<Node> nodes = new ArrayList<>();
    private final List<Integer> variables = new ArrayList<>();

    /** Appends a part's tensors and tells the index of the first. */
    private int add(int part) {
      int base = tensors.size();
      Graph graph = parts.get(part).graph();
      check((long) base + graph.tensors().size());
      for (Tensor tensor : graph.tensors()) {
        String name = part == 0 ? tensor.name() : "subgraph " + part + ": " + tensor.name();
        tensors.add(new Tensor(tensor.bytes(), tensor.kind(), name, tensor.fixedOffset()));
      }
      variables.addAll(shift(graph.variables(), base));
      return base;
    }

    private void walk(int part, int base) {
      List<Node> own = parts.get(part).graph().nodes();
      check((long) nodes.size() + own.size());
      for (int i = 0; i < own.size(); i++) {
        List<Integer> inputs = shift(own.get(i).inputs(), base);
        List<Integer> outputs = shift(own.get(i).outputs(), base);
        List<Integer> temporaries = shift(own.get(i).temporaries(), base);
        List<Integer> read = inputs;
        Set<Integer> written = new LinkedHashSet<>(outputs);
        // Between two calls is a node that reads what the one left and fills what the next takes.
        for (int callee : parts.get(part).nodes().get(i).calls()) {
          int calleeBase = add(callee);
          Graph called = parts.get(callee).graph();
          called.inputs().stream()
              .filter(input -> input != Graph.ABSENT)
              .filter(input -> called.tensors().get(input).kind() != TensorKind.CONSTANT)
              .forEach(input -> written.add(input + calleeBase));
          nodes.add(new Node(read, List.copyOf(written), List.of()));
          walk(callee, calleeBase);
          read = new ArrayList<>(inputs);
          read.addAll(shift(List.copyOf(leftBehind(called)), calleeBase));
          written.clear();
        }
        nodes.add(new Node(read, List.copyOf(written), temporaries));
      }
    }

    private void check(long count) {
      if (count > MAX_WHOLE || nodes.size() > MAX_WHOLE) {
        throw new IllegalArgumentException(
            "the model's calls make more than " + MAX_WHOLE + " nodes or tensors of it");
      }
    }

    private static List<Integer> shift(List<Integer> indices, int base) {
      return indices.stream().map(i -> i == Graph.ABSENT ? i : Integer.valueOf(i + base)).toList();
    }

    /** What is alive when a graph ends: its outputs, and what was made and is never read. */
    private static Set<Integer> leftBehind(Graph graph) {
      Set<Integer> made = new LinkedHashSet<>(graph.inputs());
      Set<Integer> read = new HashSet<>();
      for (Node node : graph.nodes()) {
        made.addAll(node.outputs());
        read.addAll(node.inputs());
      }
      made.remove(Graph.ABSENT);
      Set<Integer> left = new LinkedHashSet<>(made);
      left.removeAll(read);
      graph.outputs().stream().filter(made::contains).forEach(left::add);
      return left;
    }
  }
}
