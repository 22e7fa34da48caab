package io.prmalloc.example.model;

import java.util.Random;

/**
 * Networks as ONNX models whose inputs are of open size, so that each request has another shape.
 * Weights are random from a fixed seed, so a network is the same bytes everywhere.
 *
 * <p>Threading: immutable.
 */
public enum OpenNetwork {

  /**
   * Twelve convolutions with ReLU, two of which halve the picture, and two skip connections. Input
   * {@code in}, FLOAT [1, 3, height, width]; output {@code out}, FLOAT [1, 8, out_height,
   * out_width], a quarter of the picture each way.
   */
  CONVOLUTIONS {
    @Override
    public byte[] toOnnx() {
      OnnxGraph graph = new OnnxGraph();
      String last = conv(graph, "c1", "in", 3, 16, 1);
      String skip = conv(graph, "c2", last, 16, 24, 2);
      last = conv(graph, "c3", skip, 24, 24, 1);
      last = conv(graph, "c4", last, 24, 24, 1);
      last = graph.node("Add", "sum1", last, skip);
      skip = conv(graph, "c5", last, 24, DEEP, 2);
      last = conv(graph, "c6", skip, DEEP, DEEP, 1);
      last = conv(graph, "c7", last, DEEP, DEEP, 1);
      last = conv(graph, "c8", last, DEEP, DEEP, 1);
      last = graph.node("Add", "sum2", last, skip);
      last = conv(graph, "c9", last, DEEP, DEEP, 1);
      last = conv(graph, "c10", last, DEEP, 24, 1);
      last = conv(graph, "c11", last, 24, 16, 1);
      last = conv(graph, "c12", last, 16, OUT_CHANNELS, 1);
      graph.node("Identity", OUTPUT, last);
      return graph.toOnnx(
          new String[] {INPUT, "1", "3", "height", "width"},
          new String[] {OUTPUT, "1", "" + OUT_CHANNELS, "out_height", "out_width"});
    }

    private static String conv(
        OnnxGraph graph, String name, String input, int from, int to, int stride) {
      OnnxMessage[] attributes = {
        OnnxGraph.numbers("kernel_shape", 3, 3),
        OnnxGraph.numbers("strides", stride, stride),
        OnnxGraph.numbers("pads", 1, 1, 1, 1)
      };
      String weights = graph.weights(name + "_weights", from * 9, to, from, 3, 3);
      String bias = graph.weights(name + "_bias", to, to);
      graph.node("Conv", attributes, name, input, weights, bias);
      return graph.node("Relu", name + "_relu", name);
    }

    @Override
    public long[] shape(Random random, int most) {
      return new long[] {1, 3, 8 + random.nextInt(most - 7), 8 + random.nextInt(most - 7)};
    }

    @Override
    public long[] largest(int most) {
      return new long[] {1, 3, most, most};
    }

    @Override
    public long[] output(long... input) {
      return new long[] {1, OUT_CHANNELS, (input[2] + 3) / 4, (input[3] + 3) / 4};
    }
  },

  /**
   * Three blocks of a transformer without a vocabulary: attention and two dense layers, each with a
   * norm in front and a skip connection around. Input {@code in} and output {@code out}, FLOAT [1,
   * length, 64].
   */
  TRANSFORMER {
    @Override
    public byte[] toOnnx() {
      OnnxGraph graph = new OnnxGraph();
      graph.scalar("epsilon", 1e-5f);
      graph.scalar("scale", 0.125f);
      String last = "in";
      for (int block = 0; block < 3; block++) {
        last = attention(graph, "b" + block + "_", last);
        last = dense(graph, "b" + block + "_dense_", last);
      }
      graph.node("Identity", OUTPUT, last);
      return graph.toOnnx(
          new String[] {INPUT, "1", "length", "" + WIDTH},
          new String[] {OUTPUT, "1", "length", "" + WIDTH});
    }

    private static String attention(OnnxGraph graph, String name, String input) {
      String norm = norm(graph, name, input);
      String query = matrix(graph, name + "query", norm, WIDTH, WIDTH);
      String key = matrix(graph, name + "key", norm, WIDTH, WIDTH);
      String value = matrix(graph, name + "value", norm, WIDTH, WIDTH);
      OnnxMessage[] order = {OnnxGraph.numbers("perm", 0, 2, 1)};
      String turned = graph.node("Transpose", order, name + "turned", key);
      String products = graph.node("MatMul", name + "products", query, turned);
      String scaled = graph.node("Mul", name + "scaled", products, "scale");
      OnnxMessage[] axis = {OnnxGraph.number("axis", 2)};
      String shares = graph.node("Softmax", axis, name + "shares", scaled);
      String mixed = graph.node("MatMul", name + "mixed", shares, value);
      return graph.node(
          "Add", name + "out", input, matrix(graph, name + "back", mixed, WIDTH, WIDTH));
    }

    private static String dense(OnnxGraph graph, String name, String input) {
      String norm = norm(graph, name, input);
      String wide = matrix(graph, name + "wide", norm, WIDTH, 4 * WIDTH);
      String relu = graph.node("Relu", name + "relu", wide);
      return graph.node(
          "Add", name + "out", input, matrix(graph, name + "back", relu, 4 * WIDTH, WIDTH));
    }

    private static String matrix(OnnxGraph graph, String name, String input, int from, int to) {
      String weights = graph.weights(name + "_weights", 2 * from, from, to);
      String product = graph.node("MatMul", name + "_product", input, weights);
      return graph.node("Add", name, product, graph.weights(name + "_bias", to, to));
    }

    /** LayerNorm from primitives. */
    private static String norm(OnnxGraph graph, String name, String input) {
      OnnxMessage[] last = {OnnxGraph.numbers("axes", -1)};
      String mean = graph.node("ReduceMean", last, name + "mean", input);
      String centred = graph.node("Sub", name + "centred", input, mean);
      String square = graph.node("Mul", name + "square", centred, centred);
      String variance = graph.node("ReduceMean", last, name + "variance", square);
      String safe = graph.node("Add", name + "safe", variance, "epsilon");
      String deviation = graph.node("Sqrt", name + "deviation", safe);
      String ratio = graph.node("Div", name + "ratio", centred, deviation);
      String gain =
          graph.node("Mul", name + "gain", ratio, graph.weights(name + "gamma", 2, WIDTH));
      return graph.node("Add", name + "norm", gain, graph.weights(name + "beta", WIDTH, WIDTH));
    }

    @Override
    public long[] shape(Random random, int most) {
      return new long[] {1, 1 + random.nextInt(most), WIDTH};
    }

    @Override
    public long[] largest(int most) {
      return new long[] {1, most, WIDTH};
    }

    @Override
    public long[] output(long... input) {
      return input.clone();
    }
  };

  /** Of the one input. */
  public static final String INPUT = "in";

  /** Of the one output. */
  public static final String OUTPUT = "out";

  private static final int OUT_CHANNELS = 8;
  private static final int DEEP = 64;
  private static final int WIDTH = 64;

  /** The model, to be handed to {@code OrtEnvironment.createSession}. */
  public abstract byte[] toOnnx();

  /**
   * A shape of the input.
   *
   * @param most of a side in pixels, or of the length
   */
  public abstract long[] shape(Random random, int most);

  /** The largest of those shapes. */
  public abstract long[] largest(int most);

  /** The output's shape for an input's. */
  public abstract long[] output(long... input);
}
