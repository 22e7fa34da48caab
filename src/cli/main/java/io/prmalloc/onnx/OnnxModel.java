package io.prmalloc.onnx;

import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What a file says, as far as memory goes.
 *
 * <p>Threading: immutable.
 *
 * @param opset version of the standard operators
 * @param graph the main graph
 * @param functions names of the operators that the model itself defines
 */
record OnnxModel(long opset, Body graph, Set<String> functions) {

  /** The domain of the standard operators, and its longer name. */
  static boolean isStandard(String domain) {
    return domain.isEmpty() || domain.equals("ai.onnx");
  }

  /**
   * A dimension of a stated shape.
   *
   * @param size {@link Value#OPEN} if it is not said
   * @param parameter its name if it has one, else empty
   */
  record Dim(long size, String parameter) {}

  /**
   * A stated type.
   *
   * @param type of the elements; null if it is no tensor
   * @param dims null if no shape is stated
   */
  record Stated(OnnxType type, List<Dim> dims) {}

  /**
   * A named value and its type.
   *
   * @param stated null if nothing is
   */
  record Declared(String place, String name, Stated stated) {}

  /** A constant: of its data only what tells shapes is kept. */
  record Constant(String place, Value value) {}

  /**
   * An attribute; each has one kind of content, and the others are empty.
   *
   * @param constant null if it is no tensor
   */
  record Attribute(
      long whole,
      String text,
      List<Long> wholes,
      List<Float> floats,
      Constant constant,
      List<Body> bodies) {}

  /** An operator at work. */
  record Operation(
      String place,
      String name,
      String operator,
      String domain,
      List<String> inputs,
      List<String> outputs,
      Map<String, Attribute> attributes) {}

  /** A graph: the main one, or one that an operator runs. Maps are in the file's order. */
  record Body(
      String place,
      List<Operation> operations,
      List<Declared> inputs,
      List<Declared> outputs,
      List<Declared> stated,
      Map<String, Constant> constants) {}
}
