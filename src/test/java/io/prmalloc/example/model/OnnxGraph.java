package io.prmalloc.example.model;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * The graph of an ONNX model, put together node by node. Weights are random from a fixed seed.
 *
 * <p>Threading: one thread.
 */
final class OnnxGraph {

  private static final long SEED = 20_261_127;

  // Numbers of onnx.proto3: types of elements and of attributes.
  private static final int FLOAT = 1;
  private static final int INT_ATTRIBUTE = 2;
  private static final int INTS_ATTRIBUTE = 7;

  private final OnnxMessage graph = new OnnxMessage();
  private final List<OnnxMessage> more = new ArrayList<>();
  private final Random random = new Random(SEED);

  static OnnxMessage number(String name, long value) {
    return new OnnxMessage().put(1, name).put(3, value).put(20, INT_ATTRIBUTE);
  }

  static OnnxMessage numbers(String name, long... values) {
    OnnxMessage attribute = new OnnxMessage().put(1, name);
    for (long value : values) {
      attribute.put(8, value);
    }
    return attribute.put(20, INTS_ATTRIBUTE);
  }

  /** A node without attributes; its name is its output's. */
  String node(String operator, String output, String... inputs) {
    return node(operator, new OnnxMessage[0], output, inputs);
  }

  /** A node; its name is its output's. */
  String node(String operator, OnnxMessage[] attributes, String output, String... inputs) {
    OnnxMessage node = new OnnxMessage();
    for (String input : inputs) {
      node.put(1, input);
    }
    node.put(2, output).put(3, output).put(4, operator);
    for (OnnxMessage attribute : attributes) {
      node.put(5, attribute);
    }
    graph.put(1, node);
    return output;
  }

  /** Normal numbers, the smaller the more of them are added up. */
  String weights(String name, int fanIn, long... dimensions) {
    float scale = (float) Math.sqrt(2.0 / fanIn);
    int count = 1;
    for (long dimension : dimensions) {
      count *= (int) dimension;
    }
    float[] values = new float[count];
    for (int i = 0; i < count; i++) {
      values[i] = (float) random.nextGaussian() * scale;
    }
    return constant(name, values, dimensions);
  }

  /** One number. */
  String scalar(String name, float value) {
    return constant(name, new float[] {value});
  }

  private String constant(String name, float[] values, long... dimensions) {
    OnnxMessage tensor = new OnnxMessage();
    for (long dimension : dimensions) {
      tensor.put(1, dimension);
    }
    // ONNX is little-endian everywhere.
    ByteBuffer raw =
        ByteBuffer.allocate(values.length * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    raw.asFloatBuffer().put(values);
    graph.put(5, tensor.put(2, FLOAT).put(8, name).put(9, raw.array()));
    return name;
  }

  /**
   * An output beside the first, in this order.
   *
   * @param type number of its elements' type
   */
  void output(int type, String... nameAndDimensions) {
    more.add(value(type, nameAndDimensions));
  }

  /**
   * Ends the graph.
   *
   * @param input its name, then its dimensions: names where they are open, else numbers
   * @param output alike
   */
  byte[] toOnnx(String[] input, String[] output) {
    return toOnnx(FLOAT, input, FLOAT, output);
  }

  /** As {@link #toOnnx(String[], String[])}, with elements of these types. */
  byte[] toOnnx(int inputType, String[] input, int outputType, String[] output) {
    graph.put(2, "open").put(11, value(inputType, input)).put(12, value(outputType, output));
    more.forEach(other -> graph.put(12, other));
    return OnnxMessage.model(graph);
  }

  private static OnnxMessage value(int elements, String... nameAndDimensions) {
    OnnxMessage shape = new OnnxMessage();
    for (int i = 1; i < nameAndDimensions.length; i++) {
      String dimension = nameAndDimensions[i];
      shape.put(
          1,
          Character.isDigit(dimension.charAt(0))
              ? new OnnxMessage().put(1, Integer.parseInt(dimension))
              : new OnnxMessage().put(2, dimension));
    }
    OnnxMessage type = new OnnxMessage().put(1, new OnnxMessage().put(1, elements).put(2, shape));
    return new OnnxMessage().put(1, nameAndDimensions[0]).put(2, type);
  }
}
