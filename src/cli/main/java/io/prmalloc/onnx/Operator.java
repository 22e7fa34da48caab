package io.prmalloc.onnx;

import io.prmalloc.model.Counted;
import io.prmalloc.onnx.OnnxModel.Attribute;
import io.prmalloc.onnx.OnnxModel.Operation;
import java.util.Arrays;
import java.util.List;

/**
 * An operator with what is known of its inputs, as the rules of shapes want it.
 *
 * <p>Threading: immutable.
 *
 * @param opset version of the standard operators
 * @param inputs null for each that is absent
 */
record Operator(Operation operation, long opset, List<Value> inputs) {

  String name() {
    return operation.operator();
  }

  int outputCount() {
    return operation.outputs().size();
  }

  boolean has(int input) {
    return input < inputs.size() && inputs.get(input) != null;
  }

  /** {@link Value#UNKNOWN} if it is absent. */
  Value input(int input) {
    return has(input) ? inputs.get(input) : Value.UNKNOWN;
  }

  /** The shape of an input, or null. */
  long[] dims(int input) {
    return input(input).dims();
  }

  OnnxType type(int input) {
    return input(input).type();
  }

  /** The elements of an input as whole numbers, null if they are not known. */
  long[] content(int input) {
    double[] content = input(input).content();
    return content == null
        ? null
        : Arrays.stream(content).mapToLong(number -> (long) number).toArray();
  }

  boolean has(String attribute) {
    return operation.attributes().containsKey(attribute);
  }

  Attribute attribute(String name) {
    return operation.attributes().get(name);
  }

  long whole(String attribute, long otherwise) {
    return has(attribute) ? attribute(attribute).whole() : otherwise;
  }

  String text(String attribute, String otherwise) {
    return has(attribute) ? attribute(attribute).text() : otherwise;
  }

  /** Null if it is absent. */
  long[] wholes(String attribute) {
    return has(attribute)
        ? attribute(attribute).wholes().stream().mapToLong(Long::longValue).toArray()
        : null;
  }

  /**
   * An attribute with an element for each of so many dimensions.
   *
   * @param otherwise what each is if the attribute is absent
   * @throws IllegalArgumentException if it has more or fewer
   */
  long[] wholes(String attribute, int count, long otherwise) {
    long[] wholes = wholes(attribute);
    if (wholes == null || wholes.length == 0) {
      wholes = new long[count];
      Arrays.fill(wholes, otherwise);
    }
    if (wholes.length != count) {
      throw new IllegalArgumentException(
          attribute + " has " + Counted.of(wholes.length, "number") + " instead of " + count);
    }
    return wholes;
  }

  /** A list that was an attribute once and is an input now; null if it is not known or absent. */
  long[] list(String attribute, int input) {
    return has(attribute) ? wholes(attribute) : content(input);
  }

  /**
   * A dimension counted from the last one if it is negative.
   *
   * @throws IllegalArgumentException if there is none
   */
  static int axis(long axis, int rank) {
    if (axis < -rank || axis >= rank) {
      throw new IllegalArgumentException(
          "axis " + axis + " is not one of " + Counted.of(rank, "dimension"));
    }
    return (int) (axis < 0 ? axis + rank : axis);
  }

  /** The same of an attribute. */
  int axis(String attribute, long otherwise, int rank) {
    return axis(whole(attribute, otherwise), rank);
  }
}
