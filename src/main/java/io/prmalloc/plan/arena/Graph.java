package io.prmalloc.plan.arena;

import io.prmalloc.plan.TensorUsageRecord;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * A model, as far as it concerns memory: tensors, and nodes in the order they run.
 *
 * <p>An index is a tensor's place in {@link #tensors}; −1 stands for an optional tensor that is
 * absent. A graph that could be made is sound: every index has its tensor, no tensor is produced
 * twice, and what a node reads is constant, given, a variable, or produced by a node before it. An
 * output that nothing produces and a tensor that nothing names are allowed and get no memory.
 *
 * <p>Threading: immutable.
 *
 * @param tensors every tensor, at most 2^31 − 1
 * @param nodes in execution order; a graph may have none
 * @param inputs tensors that are filled before the first node runs
 * @param outputs tensors that are read after the last node ran
 * @param variables tensors that keep their content from one run to the next
 */
public record Graph(
    List<Tensor> tensors,
    List<Node> nodes,
    List<Integer> inputs,
    List<Integer> outputs,
    List<Integer> variables) {

  /** Stands for an optional tensor that is absent. */
  public static final int ABSENT = -1;

  /** The most bytes a tensor can have: 1 TiB. */
  public static final long MAX_TENSOR_BYTES = 1L << 40;

  /** The fixed offset of a tensor that the planner may put anywhere. */
  public static final long ANYWHERE = -1;

  /**
   * A tensor.
   *
   * <p>Threading: immutable.
   *
   * @param bytes its size, from 0 to {@link #MAX_TENSOR_BYTES}
   * @param kind where its memory comes from
   * @param name what people call it; empty if it has no name
   * @param fixedOffset where in the arena it lies, from 0 to {@link #MAX_TENSOR_BYTES}, whatever
   *     the alignment, or {@link #ANYWHERE}, the only one for other kinds than {@link
   *     TensorKind#ARENA}; tensors with fixed offsets may overlap one another
   */
  public record Tensor(long bytes, TensorKind kind, String name, long fixedOffset) {

    /**
     * Threading: any thread. Size and offset are checked when the tensor gets into a graph.
     *
     * @throws NullPointerException if {@code kind} or {@code name} is null
     */
    public Tensor {
      Objects.requireNonNull(kind, "kind");
      Objects.requireNonNull(name, "name");
    }

    /** A tensor that may lie anywhere. Threading: any thread. */
    public Tensor(long bytes, TensorKind kind, String name) {
      this(bytes, kind, name, ANYWHERE);
    }

    /** A tensor without a name that may lie anywhere. Threading: any thread. */
    public Tensor(long bytes, TensorKind kind) {
      this(bytes, kind, "");
    }
  }

  /**
   * A step of the computation.
   *
   * <p>Threading: immutable.
   *
   * @param inputs tensors it reads
   * @param outputs tensors it writes for others
   * @param temporaries tensors it needs for itself while it runs
   */
  public record Node(List<Integer> inputs, List<Integer> outputs, List<Integer> temporaries) {

    /**
     * Threading: any thread.
     *
     * @throws NullPointerException if a list, or an index in one, is null
     */
    public Node {
      inputs = List.copyOf(inputs);
      outputs = List.copyOf(outputs);
      temporaries = List.copyOf(temporaries);
    }
  }

  /**
   * Checks and makes a graph, in a time in proportion to its size.
   *
   * <p>Threading: any thread.
   *
   * @throws InvalidGraphException if the lists are no graph; the message and the exception hold the
   *     first place that is wrong
   * @throws NullPointerException if a list, or an element of one, is null
   */
  public Graph {
    tensors = List.copyOf(tensors);
    nodes = List.copyOf(nodes);
    inputs = List.copyOf(inputs);
    outputs = List.copyOf(outputs);
    variables = List.copyOf(variables);
    new GraphCheck(tensors, nodes).run(inputs, outputs, variables);
  }

  /**
   * The tensors of kind {@link TensorKind#ARENA} as static planners want them: size, first and last
   * node, by first node and then by index. A tensor that is never freed lives to the last node. One
   * that gets no memory, because nothing produces it, is not among them; one of 0 bytes is.
   *
   * <p>Threading: any thread.
   *
   * @param options what is preserved; the alignments do not matter here
   * @return a record for each index, in the order said, which iteration keeps
   */
  public Map<Integer, TensorUsageRecord> usageRecords(ArenaOptions options) {
    Lifetimes lifetimes = new Lifetimes(this, options);
    Map<Integer, TensorUsageRecord> records = new LinkedHashMap<>();
    for (int tensor : lifetimes.arenaTensors()) {
      int last = Math.min(lifetimes.death(tensor), lifetimes.lastNode());
      records.put(
          tensor,
          new TensorUsageRecord(tensors.get(tensor).bytes(), lifetimes.birth(tensor), last));
    }
    return Collections.unmodifiableMap(records);
  }
}
