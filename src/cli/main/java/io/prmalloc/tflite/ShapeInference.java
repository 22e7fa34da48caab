package io.prmalloc.tflite;

import io.prmalloc.model.ModelFormatException;
import io.prmalloc.tflite.ShapeRules.NoShapeException;
import io.prmalloc.tflite.TfliteSubgraph.TfliteOperator;
import io.prmalloc.tflite.TfliteSubgraph.TfliteTensor;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Carries the shapes of inputs that a user sets through a model, as far as they reach: what does
 * not depend on them keeps the shape of the file.
 *
 * <p>Threading: one thread at a time.
 */
final class ShapeInference {

  // An operator's rule is asked only if an input changed: its shape is another one than in the
  // file or was open there, or its numbers come from such a shape. A model with operators whose
  // rules are not known can so be resized as far as they are not concerned.

  private final FlatFile file;
  private final List<TfliteSubgraph> subgraphs;
  private final List<State> states = new ArrayList<>();

  /** What is known of a subgraph's tensors. */
  private static final class State {
    private final List<List<Integer>> shapes;
    private final List<List<Long>> values;
    private final boolean[] changed;
    private final boolean[] inferred;
    private List<List<Integer>> givenTo;

    State(FlatFile file, TfliteSubgraph subgraph) {
      this.shapes = new ArrayList<>(subgraph.tensors().stream().map(TfliteTensor::shape).toList());
      this.values = new ArrayList<>();
      subgraph.tensors().forEach(tensor -> values.add(tensor.values(file)));
      this.changed = new boolean[shapes.size()];
      this.inferred = new boolean[shapes.size()];
    }
  }

  ShapeInference(FlatFile file, List<TfliteSubgraph> subgraphs) {
    this.file = file;
    this.subgraphs = subgraphs;
    subgraphs.forEach(subgraph -> states.add(new State(file, subgraph)));
  }

  /** The shape of a tensor: what was worked out, else the file's. */
  List<Integer> shape(int subgraph, int tensor) {
    return states.get(subgraph).shapes.get(tensor);
  }

  /** Whether a tensor's shape is open in the file, and still only assumed. */
  boolean isAssumed(int subgraph, int tensor) {
    return subgraphs.get(subgraph).tensors().get(tensor).isOpen()
        && !states.get(subgraph).inferred[tensor];
  }

  /**
   * Sets shapes of inputs of a subgraph and works out what follows; calls are known not to go in a
   * circle, and every index to have its tensor.
   *
   * @param given shapes by tensor
   * @throws ModelFormatException if an operator stops it
   */
  void run(int subgraph, Map<Integer, List<Integer>> given) {
    State state = states.get(subgraph);
    given.forEach((tensor, shape) -> set(subgraph, tensor, shape));
    List<TfliteOperator> operators = subgraphs.get(subgraph).operators();
    for (TfliteOperator operator : operators) {
      walk(subgraph, state, operator);
    }
  }

  private void set(int subgraph, int tensor, List<Integer> shape) {
    State state = states.get(subgraph);
    TfliteTensor stated = subgraphs.get(subgraph).tensors().get(tensor);
    state.shapes.set(tensor, shape);
    state.inferred[tensor] = true;
    state.changed[tensor] |= stated.isOpen() || !shape.equals(stated.shape());
  }

  private void walk(int subgraph, State state, TfliteOperator operator) {
    List<TfliteTensor> tensors = subgraphs.get(subgraph).tensors();
    boolean touched = operator.inputs().stream().anyMatch(i -> i >= 0 && state.changed[i]);
    ShapeRules rules =
        new ShapeRules(
            operator, pick(operator.inputs(), state.shapes), pick(operator.inputs(), state.values));
    if (touched) {
      List<List<Integer>> shapes = outputs(subgraph, operator, rules);
      for (int i = 0; i < operator.outputs().size(); i++) {
        int output = operator.outputs().get(i);
        if (output >= 0 && i < shapes.size()) {
          set(subgraph, output, shapes.get(i));
        } else if (output >= 0) {
          throw stop(operator, "it has " + operator.outputs().size() + " outputs");
        }
      }
    }
    List<List<Long>> values = rules.outputValues(pick(operator.outputs(), state.shapes));
    for (int i = 0; i < operator.outputs().size(); i++) {
      int output = operator.outputs().get(i);
      if (output >= 0 && tensors.get(output).isWholeNumbers()) {
        state.values.set(output, values.get(i));
        state.changed[output] |= touched && isSmall(state.shapes.get(output));
      }
    }
  }

  private static boolean isSmall(List<Integer> shape) {
    long elements = 1;
    for (int dimension : shape) {
      elements = Math.min(elements * dimension, Integer.MAX_VALUE);
    }
    return elements <= ShapeRules.MAX_VALUES;
  }

  /** With null for absent tensors. */
  private static <T> List<T> pick(List<Integer> indices, List<T> all) {
    List<T> picked = new ArrayList<>(indices.size());
    indices.forEach(index -> picked.add(index < 0 ? null : all.get(index)));
    return picked;
  }

  private List<List<Integer>> outputs(int subgraph, TfliteOperator operator, ShapeRules rules) {
    try {
      return operator.calls().isEmpty() ? rules.outputs() : call(subgraph, operator);
    } catch (NoShapeException why) {
      throw stop(operator, why.getMessage());
    }
  }

  private ModelFormatException stop(TfliteOperator operator, String why) {
    return file.error(operator.place(), operator.name() + " stops the shapes of --shape: " + why);
  }

  /** What subgraphs make of a call's inputs. */
  private List<List<Integer>> call(int subgraph, TfliteOperator operator) {
    List<Integer> inputs = operator.inputs();
    // The condition of an IF is not handed on.
    List<List<Integer>> handed =
        pick(
            operator.kind() == BuiltinOperator.IF && !inputs.isEmpty()
                ? inputs.subList(1, inputs.size())
                : inputs,
            states.get(subgraph).shapes);
    List<List<Integer>> made = null;
    for (int callee : operator.calls()) {
      List<List<Integer>> outputs = call(callee, handed);
      boolean isLoop = operator.kind() == BuiltinOperator.WHILE;
      if (isLoop && callee == operator.calls().get(0)) {
        continue;
      }
      if (isLoop && !outputs.equals(handed)) {
        throw new NoShapeException("a shape changes from turn to turn");
      }
      if (made != null && !made.equals(outputs)) {
        throw new NoShapeException("the shapes of its branches differ");
      }
      made = outputs;
    }
    return made == null ? List.of() : made;
  }

  private List<List<Integer>> call(int callee, List<List<Integer>> handed) {
    TfliteSubgraph called = subgraphs.get(callee);
    State state = states.get(callee);
    if (handed.size() != called.inputs().size()) {
      throw new NoShapeException(
          handed.size()
              + " tensors are handed to the "
              + called.inputs().size()
              + " inputs of "
              + called.place());
    }
    if (state.givenTo == null) {
      state.givenTo = handed;
      Map<Integer, List<Integer>> given = new HashMap<>();
      for (int i = 0; i < handed.size(); i++) {
        if (handed.get(i) != null && called.inputs().get(i) >= 0) {
          given.put(called.inputs().get(i), handed.get(i));
        }
      }
      run(callee, given);
    } else if (!state.givenTo.equals(handed)) {
      throw new NoShapeException(called.place() + " is called with other shapes before");
    }
    return pick(called.outputs(), state.shapes);
  }
}
