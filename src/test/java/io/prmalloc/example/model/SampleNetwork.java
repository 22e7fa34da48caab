package io.prmalloc.example.model;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Random;

/**
 * Makes small image classifiers as ONNX models: two convolutions with ReLU, a mean over what is
 * left of the picture, a dense head. Weights are random from a fixed seed, so a network is the same
 * bytes everywhere.
 *
 * <p>Input {@code image}, FLOAT [batch, channels, side, side]; output {@code scores}, FLOAT [batch,
 * {@value #CLASSES}].
 *
 * <p>Threading: immutable.
 *
 * @param channels of the picture, from 1
 * @param side of the picture in pixels, a multiple of the product of the strides
 * @param firstStride side of the first convolution's kernel and its step
 * @param secondStride side of the second convolution's kernel and its step
 */
public record SampleNetwork(int channels, int side, int firstStride, int secondStride) {

  /** How many scores a picture gets. */
  public static final int CLASSES = 10;

  /** 12 KiB of input for each picture: a thumbnail in colours. */
  public static final SampleNetwork SMALL = new SampleNetwork(3, 32, 2, 2);

  /** 4 MiB of input for each picture: a scan in grey. */
  public static final SampleNetwork LARGE = new SampleNetwork(1, 1024, 16, 4);

  private static final int FIRST_FILTERS = 8;
  private static final int SECOND_FILTERS = 16;
  private static final long SEED = 20_261_121;

  // Numbers of onnx.proto3: types of elements and of attributes.
  private static final int FLOAT = 1;
  private static final int INT_ATTRIBUTE = 2;
  private static final int INTS_ATTRIBUTE = 7;

  /** Bytes of one picture. */
  public int imageBytes() {
    return channels * side * side * Float.BYTES;
  }

  /** The model, to be handed to {@code OrtEnvironment.createSession}. */
  public byte[] toOnnx() {
    Random random = new Random(SEED);
    OnnxMessage graph =
        new OnnxMessage()
            .put(1, conv("image", "first", firstStride))
            .put(1, node("Relu", "first_relu", "first"))
            .put(1, conv("first_relu", "second", secondStride))
            .put(1, node("Relu", "second_relu", "second"))
            .put(1, node("GlobalAveragePool", "mean", "second_relu"))
            .put(1, node("Flatten", "flat", "mean").put(5, intAttribute("axis", 1)))
            .put(1, node("Gemm", "scores", "flat", "head_weights", "head_bias"))
            .put(2, "sample")
            .put(5, weights(random, "first_weights", FIRST_FILTERS, channels, firstStride))
            .put(5, weights(random, "first_bias", FIRST_FILTERS))
            .put(5, weights(random, "second_weights", SECOND_FILTERS, FIRST_FILTERS, secondStride))
            .put(5, weights(random, "second_bias", SECOND_FILTERS))
            .put(5, matrix(random, "head_weights", SECOND_FILTERS, CLASSES))
            .put(5, weights(random, "head_bias", CLASSES))
            .put(11, value("image", channels, side, side))
            .put(12, value("scores", CLASSES));
    return OnnxMessage.model(graph);
  }

  private static OnnxMessage node(String operator, String output, String... inputs) {
    OnnxMessage node = new OnnxMessage();
    for (String input : inputs) {
      node.put(1, input);
    }
    return node.put(2, output).put(3, output).put(4, operator);
  }

  private static OnnxMessage conv(String input, String output, int stride) {
    return node("Conv", output, input, output + "_weights", output + "_bias")
        .put(5, intsAttribute("kernel_shape", stride))
        .put(5, intsAttribute("strides", stride));
  }

  private static OnnxMessage intAttribute(String name, long value) {
    return new OnnxMessage().put(1, name).put(3, value).put(20, INT_ATTRIBUTE);
  }

  /** The same number for both sides of a picture. */
  private static OnnxMessage intsAttribute(String name, long value) {
    return new OnnxMessage().put(1, name).put(8, value).put(8, value).put(20, INTS_ATTRIBUTE);
  }

  /** Weights of a convolution: filters, channels, a square. */
  private static OnnxMessage weights(
      Random random, String name, int filters, int channels, int side) {
    return tensor(random, name, channels * side * side, filters, channels, side, side);
  }

  private static OnnxMessage matrix(Random random, String name, int rows, int columns) {
    return tensor(random, name, rows, rows, columns);
  }

  private static OnnxMessage weights(Random random, String name, int count) {
    return tensor(random, name, count, count);
  }

  /** Normal numbers, the smaller the more of them are added up. */
  private static OnnxMessage tensor(Random random, String name, int fanIn, long... dimensions) {
    OnnxMessage tensor = new OnnxMessage();
    int count = 1;
    for (long dimension : dimensions) {
      tensor.put(1, dimension);
      count *= (int) dimension;
    }
    // ONNX is little-endian everywhere.
    ByteBuffer raw = ByteBuffer.allocate(count * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    float scale = (float) Math.sqrt(2.0 / fanIn);
    for (int i = 0; i < count; i++) {
      raw.putFloat((float) random.nextGaussian() * scale);
    }
    return tensor.put(2, FLOAT).put(8, name).put(9, raw.array());
  }

  /** An input or output of numbers whose first dimension is the batch. */
  private static OnnxMessage value(String name, int... sizes) {
    OnnxMessage shape = new OnnxMessage().put(1, new OnnxMessage().put(2, "batch"));
    for (int size : sizes) {
      shape.put(1, new OnnxMessage().put(1, size));
    }
    OnnxMessage type = new OnnxMessage().put(1, new OnnxMessage().put(1, FLOAT).put(2, shape));
    return new OnnxMessage().put(1, name).put(2, type);
  }
}
