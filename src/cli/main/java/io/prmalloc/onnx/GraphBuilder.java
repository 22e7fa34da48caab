package io.prmalloc.onnx;

import static io.prmalloc.model.ModelFormatException.quote;

import io.prmalloc.model.GraphModel;
import io.prmalloc.model.GraphModel.NodeNote;
import io.prmalloc.model.GraphModel.Origin;
import io.prmalloc.model.GraphModel.TensorNote;
import io.prmalloc.model.ModelFormatException;
import io.prmalloc.onnx.OnnxModel.Body;
import io.prmalloc.onnx.OnnxModel.Declared;
import io.prmalloc.onnx.OnnxModel.Operation;
import io.prmalloc.plan.arena.Graph;
import io.prmalloc.plan.arena.Graph.Node;
import io.prmalloc.plan.arena.Graph.Tensor;
import io.prmalloc.plan.arena.InvalidGraphException;
import io.prmalloc.plan.arena.TensorKind;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Makes a graph of a model: walks through its operators in order, into the bodies of those that run
 * some, and infers shapes on the way.
 *
 * <p>Threading: one thread.
 */
final class GraphBuilder {

  private static final int MAX_LISTED = 5;

  /** The names that are known where an operator stands, and what a body takes from outside. */
  private static final class Scope {
    private final Scope outer;
    private final Map<String, Integer> tensors = new HashMap<>();
    private final Map<String, Value> stated = new HashMap<>();
    private final Set<Integer> captured = new LinkedHashSet<>();

    Scope(Scope outer) {
      this.outer = outer;
    }
  }

  private final String file;
  private final OnnxModel model;
  private final Dimensions dimensions;
  private final List<String> names = new ArrayList<>();
  private final List<Value> values = new ArrayList<>();
  private final List<Boolean> constant = new ArrayList<>();
  private final List<Node> nodes = new ArrayList<>();
  private final List<NodeNote> nodeNotes = new ArrayList<>();
  // What stopped the rules, and where they and the model differ; for the warning.
  private final Set<String> stops = new LinkedHashSet<>();
  private final List<String> differences = new ArrayList<>();

  GraphBuilder(String file, OnnxModel model, Dimensions dimensions) {
    this.file = file;
    this.model = model;
    this.dimensions = dimensions;
  }

  GraphModel build() {
    Scope scope = new Scope(null);
    List<Integer> inputs = new ArrayList<>();
    for (Declared input : model.graph().inputs()) {
      // Writers of old listed weights among the inputs.
      if (!model.graph().constants().containsKey(input.name())) {
        inputs.add(define(scope, input.place(), input.name(), dimensions.value(input), false));
      }
    }
    List<Integer> outputs = walk(model.graph(), scope);
    List<Tensor> tensors = new ArrayList<>();
    Set<Integer> unknown = new LinkedHashSet<>();
    for (int i = 0; i < values.size(); i++) {
      boolean sized = values.get(i).hasSize();
      if (!sized && !constant.get(i)) {
        unknown.add(i);
      }
      TensorKind kind =
          constant.get(i) ? TensorKind.CONSTANT : sized ? TensorKind.ARENA : TensorKind.DYNAMIC;
      tensors.add(new Tensor(sized ? values.get(i).bytes() : 0, kind, names.get(i)));
    }
    try {
      Graph graph = new Graph(tensors, freeingWhatNobodyReads(outputs), inputs, outputs, List.of());
      return GraphModel.of(
          new GraphModel.Part("", graph, nodeNotes, tensorNotes(graph)), warnings(unknown));
    } catch (InvalidGraphException invalid) {
      throw error("graph", invalid.getMessage());
    }
  }

  private List<TensorNote> tensorNotes(Graph graph) {
    Set<Integer> unread = new HashSet<>();
    graph.nodes().forEach(node -> unread.addAll(node.temporaries()));
    List<TensorNote> notes = new ArrayList<>();
    for (int i = 0; i < values.size(); i++) {
      Value value = values.get(i);
      notes.add(
          new TensorNote(
              value.type() == null ? "" : value.type().toString(),
              value.dims() == null || value.rank() == 0 ? "" : Value.describe(value.dims()),
              unread.contains(i) ? Origin.UNREAD : Origin.GRAPH));
    }
    return notes;
  }

  private void add(Node node, String operator) {
    nodes.add(node);
    nodeNotes.add(new NodeNote(operator, List.of()));
  }

  /** What an operator gives and nothing reads would live on for ever. */
  private List<Node> freeingWhatNobodyReads(List<Integer> outputs) {
    Set<Integer> read = new HashSet<>(outputs);
    nodes.forEach(node -> read.addAll(node.inputs()));
    return nodes.stream()
        .map(
            node -> {
              Map<Boolean, List<Integer>> byRead =
                  node.outputs().stream().collect(Collectors.partitioningBy(read::contains));
              return new Node(node.inputs(), byRead.get(true), byRead.get(false));
            })
        .toList();
  }

  /** Adds a body's constants and operators, and gives the tensors of its outputs. */
  private List<Integer> walk(Body body, Scope scope) {
    body.constants()
        .forEach((name, weight) -> define(scope, weight.place(), name, weight.value(), true));
    if (!dimensions.isContradictory()) {
      for (List<Declared> list : List.of(body.stated(), body.outputs())) {
        list.forEach(declared -> scope.stated.put(declared.name(), dimensions.value(declared)));
      }
    }
    for (Operation operation : body.operations()) {
      run(operation, scope);
    }
    List<Integer> outputs = new ArrayList<>();
    for (Declared output : body.outputs()) {
      outputs.add(find(scope, output.name(), output.place()));
    }
    return outputs.stream().distinct().count() == outputs.size() || scope.outer != null
        ? outputs
        : outputs.stream().distinct().toList();
  }

  private int define(Scope scope, String place, String name, Value value, boolean isConstant) {
    if (scope.tensors.putIfAbsent(name, values.size()) != null) {
      throw error(place, "the name " + quote(name) + " is taken");
    }
    names.add(name);
    values.add(value);
    constant.add(isConstant);
    return values.size() - 1;
  }

  /** The tensor of a name, here or further out; bodies on the way note that they take it. */
  private int find(Scope scope, String name, String place) {
    List<Scope> inner = new ArrayList<>();
    for (Scope at = scope; at != null; at = at.outer) {
      Integer tensor = at.tensors.get(name);
      if (tensor != null) {
        inner.forEach(taking -> taking.captured.add(tensor));
        return tensor;
      }
      inner.add(at);
    }
    throw error(
        place,
        "nothing before it gives " + quote(name) + "; operators must be in topological order");
  }

  private void run(Operation operation, Scope scope) {
    try {
      add(operation, scope);
    } catch (IllegalArgumentException wrong) {
      throw error(operation.place(), describe(operation) + ": " + wrong.getMessage());
    }
  }

  private void add(Operation operation, Scope scope) {
    List<Integer> inputs = new ArrayList<>();
    for (int i = 0; i < operation.inputs().size(); i++) {
      String name = operation.inputs().get(i);
      inputs.add(
          name.isEmpty()
              ? Graph.ABSENT
              : find(scope, name, operation.place() + ".input[" + i + "]"));
    }
    List<Value> known =
        inputs.stream()
            .map(i -> i == Graph.ABSENT ? null : values.get(i))
            .collect(Collectors.toList());
    Operator operator = new Operator(operation, model.opset(), known);
    List<Integer> read = new ArrayList<>(inputs);
    List<Body> bodies =
        operation.attributes().values().stream()
            .flatMap(attribute -> attribute.bodies().stream())
            .toList();
    List<Value> outputs =
        bodies.isEmpty()
            ? ShapeRules.outputs(operator)
            : runBodies(operator, bodies, inputs, read, scope);
    List<Integer> written = new ArrayList<>();
    boolean isConstant =
        operation.operator().equals("Constant") && OnnxModel.isStandard(operation.domain());
    boolean stopped = false;
    for (int i = 0; i < operation.outputs().size(); i++) {
      String name = operation.outputs().get(i);
      if (name.isEmpty()) {
        continue;
      }
      Value value = settle(name, outputs.get(i), scope.stated.get(name));
      if (value.isClosed() && value.content() == null && !isConstant) {
        value = new Value(value.type(), value.dims(), ContentRules.content(operator, value, i));
      }
      stopped |= !value.hasSize();
      int tensor = define(scope, operation.place() + ".output[" + i + "]", name, value, isConstant);
      if (!isConstant) {
        written.add(tensor);
      }
    }
    add(new Node(read, written, List.of()), label(operation));
    if (stopped && known.stream().allMatch(value -> value == null || value.hasSize())) {
      stops.add(operation.place() + " (" + describe(operation) + ")");
    }
  }

  private static String label(Operation operation) {
    return (OnnxModel.isStandard(operation.domain()) ? "" : operation.domain() + ".")
        + operation.operator();
  }

  private static String describe(Operation operation) {
    return quote(label(operation)).replace("`", "")
        + (operation.name().isEmpty() ? "" : " " + quote(operation.name()));
  }

  /** What follows from the operators and, where that says nothing, what the model states. */
  private Value settle(String name, Value inferred, Value stated) {
    if (stated == null) {
      return inferred;
    }
    OnnxType type = inferred.type() == null ? stated.type() : inferred.type();
    boolean differs = stated.type() != null && type != stated.type();
    long[] dims = inferred.dims() == null ? stated.dims() : inferred.dims().clone();
    if (inferred.dims() != null && stated.dims() != null) {
      differs |= dims.length != stated.dims().length;
      for (int i = 0; i < Math.min(dims.length, stated.dims().length); i++) {
        long other = stated.dims()[i];
        differs |= dims[i] != Value.OPEN && other != Value.OPEN && dims[i] != other;
        dims[i] = dims[i] == Value.OPEN && !differs ? other : dims[i];
      }
    }
    if (differs) {
      differences.add(
          quote(name) + " (stated " + text(stated) + ", follows " + text(inferred) + ")");
    }
    return new Value(type, dims, inferred.content());
  }

  private static String text(Value value) {
    return (value.dims() == null ? "any shape" : Value.describe(value.dims()))
        + " of "
        + (value.type() == null ? "any type" : value.type());
  }

  /**
   * Runs the bodies of an If, Loop, Scan or of what is not known, once each.
   *
   * @param read gets what the operator keeps alive: what bodies take from outside, and their
   *     outputs
   * @return what is known of the operator's outputs
   */
  private List<Value> runBodies(
      Operator operator, List<Body> bodies, List<Integer> inputs, List<Integer> read, Scope scope) {
    List<List<Value>> results = new ArrayList<>();
    boolean isIf = operator.name().equals("If");
    for (Body body : bodies) {
      Scope inner = new Scope(scope);
      List<Integer> given = new ArrayList<>();
      for (int i = 0; i < body.inputs().size(); i++) {
        Declared input = body.inputs().get(i);
        Value value = dimensions.isContradictory() ? Value.UNKNOWN : dimensions.value(input);
        Value passed = passed(operator, i);
        value = settle(input.name(), passed, value);
        given.add(define(inner, input.place(), input.name(), value, false));
      }
      if (!given.isEmpty()) {
        add(new Node(inputs, given, List.of()), "begin of a body of " + operator.name());
      }
      List<Integer> outputs = walk(body, inner);
      read.addAll(outputs);
      // A branch is done when its last operator is; a loop comes back for what it takes.
      if (!isIf) {
        read.addAll(inner.captured);
      }
      results.add(outputs.stream().map(values::get).toList());
    }
    List<Value> outputs = new ArrayList<>();
    for (int i = 0; i < operator.outputCount(); i++) {
      outputs.add(result(operator, results, i));
    }
    return outputs;
  }

  /** What is known of an input of a body: of a loop's first round only what holds in all. */
  private static Value passed(Operator operator, int index) {
    switch (operator.name()) {
      case "Loop" -> {
        if (index < 2) {
          return Value.of(index == 0 ? OnnxType.INT64 : OnnxType.BOOL);
        }
        // The shape may change from round to round.
        return new Value(operator.type(index), null, null);
      }
      case "Scan" -> {
        int scanned = (int) operator.whole("num_scan_inputs", 0);
        int states = operator.inputs().size() - scanned;
        long[] dims = operator.dims(index);
        if (operator.opset() < 9 || scanned < 0 || dims == null || index < states) {
          return operator.opset() < 9 ? Value.UNKNOWN : new Value(operator.type(index), dims, null);
        }
        int axis = Operator.axis(axes(operator, "scan_input_axes", index - states), dims.length);
        return new Value(operator.type(index), without(dims, axis), null);
      }
      default -> {
        return Value.UNKNOWN;
      }
    }
  }

  private static long axes(Operator operator, String attribute, int index) {
    long[] axes = operator.wholes(attribute);
    return axes == null || index >= axes.length ? 0 : axes[index];
  }

  private static long[] without(long[] dims, int axis) {
    long[] fewer = Arrays.copyOf(dims, dims.length - 1);
    System.arraycopy(dims, axis + 1, fewer, axis, fewer.length - axis);
    return fewer;
  }

  private static long[] with(long[] dims, int axis, long size) {
    long[] more = Arrays.copyOf(dims, dims.length + 1);
    System.arraycopy(dims, axis, more, axis + 1, dims.length - axis);
    more[axis] = size;
    return more;
  }

  /** What is known of an output of an operator with bodies. */
  private static Value result(Operator operator, List<List<Value>> results, int index) {
    List<Value> first = results.get(0);
    switch (operator.name()) {
      case "If" -> {
        if (results.stream().anyMatch(branch -> branch.size() <= index)) {
          throw new IllegalArgumentException("a branch gives nothing for output " + index);
        }
        Value one = first.get(index);
        for (List<Value> branch : results) {
          Value other = branch.get(index);
          if (one.type() != other.type() || !Arrays.equals(one.dims(), other.dims())) {
            return new Value(one.type() == other.type() ? one.type() : null, null, null);
          }
        }
        return new Value(one.type(), one.dims(), null);
      }
      case "Loop" -> {
        // The body gives whether to go on, then what is carried, then what is stacked.
        int carried = operator.inputs().size() - 2;
        Value value = index + 1 < first.size() ? first.get(index + 1) : Value.UNKNOWN;
        return index < carried || value.dims() == null
            ? new Value(value.type(), index < carried ? value.dims() : null, null)
            : new Value(value.type(), with(value.dims(), 0, Value.OPEN), null);
      }
      case "Scan" -> {
        int scanned = (int) operator.whole("num_scan_inputs", 0);
        int states = operator.inputs().size() - scanned;
        if (operator.opset() < 9 || index >= first.size() || scanned < 1 || states < 0) {
          return Value.UNKNOWN;
        }
        Value value = first.get(index);
        if (index < states || value.dims() == null) {
          return new Value(value.type(), index < states ? value.dims() : null, null);
        }
        long[] over = operator.dims(states);
        long size =
            over == null
                ? Value.OPEN
                : over[Operator.axis(axes(operator, "scan_input_axes", 0), over.length)];
        int axis =
            Operator.axis(
                axes(operator, "scan_output_axes", index - states), value.dims().length + 1);
        return new Value(value.type(), with(value.dims(), axis, size), null);
      }
      default -> {
        return Value.UNKNOWN;
      }
    }
  }

  private List<String> warnings(Set<Integer> unknown) {
    List<String> warnings = new ArrayList<>();
    if (!unknown.isEmpty()) {
      long count = constant.stream().filter(isConstant -> !isConstant).count();
      warnings.add(
          unknown.size()
              + " of "
              + count
              + (unknown.size() == 1
                  ? " values has no known size and is not planned: "
                  : " values have no known size and are not planned: ")
              + list(unknown.stream().map(i -> quote(names.get(i))).toList())
              + (stops.isEmpty() ? "" : "; shapes end at " + list(stops))
              + "; ONNX's shape inference (onnx.shape_inference.infer_shapes_path) or ONNX Runtime's"
              + " (onnxruntime.tools.symbolic_shape_infer) can write what is missing into the model");
    }
    if (!differences.isEmpty()) {
      warnings.add(
          (differences.size() == 1
                  ? "1 value has another shape or type than the model states, and is taken"
                  : differences.size()
                      + " values have another shape or type than the model states, and are taken")
              + " as follows from its operators: "
              + list(differences));
    }
    return warnings;
  }

  private static String list(Collection<String> all) {
    return all.stream().limit(MAX_LISTED).collect(Collectors.joining(", "))
        + (all.size() > MAX_LISTED ? " and " + (all.size() - MAX_LISTED) + " more" : "");
  }

  private ModelFormatException error(String place, String what) {
    return new ModelFormatException(file, place, what);
  }
}
