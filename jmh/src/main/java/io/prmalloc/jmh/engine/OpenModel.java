package io.prmalloc.jmh.engine;

import ai.onnxruntime.NodeInfo;
import ai.onnxruntime.OnnxJavaType;
import ai.onnxruntime.OnnxTensor;
import ai.onnxruntime.OrtEnvironment;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtSession;
import ai.onnxruntime.TensorInfo;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A session, its shapes, and the bytes that its inputs are made of. All threads read the same.
 *
 * <p>Threading: any thread.
 */
final class OpenModel {

  /** Not this object's to close. */
  private final OrtSession session;

  private final String name;
  private final Map<String, TensorInfo> types = new HashMap<>();
  private final Map<String, ByteBuffer> bytes = new HashMap<>();
  private final List<Map<String, long[]>> shapes;

  /**
   * Looks whether the shapes fit, and fills the inputs.
   *
   * @param told shapes of some of the inputs; those of the others the model must know
   * @throws IllegalArgumentException if an input is not there, or its shape does not fit
   */
  OpenModel(OrtSession session, String name, List<Map<String, long[]>> told) throws OrtException {
    this.session = session;
    this.name = name;
    for (NodeInfo input : session.getInputInfo().values()) {
      if (!(input.getInfo() instanceof TensorInfo info)) {
        throw new IllegalArgumentException(
            "--model " + name + " has the input `" + input.getName() + "`, which is no tensor");
      }
      types.put(input.getName(), info);
    }
    this.shapes = told.stream().map(this::complete).toList();
    for (Map<String, long[]> shape : shapes) {
      shape.forEach(
          (input, dimensions) -> {
            int size = size(input, dimensions);
            if (!bytes.containsKey(input) || bytes.get(input).capacity() < size) {
              bytes.put(input, ByteBuffer.allocateDirect(size));
            }
          });
    }
    bytes.forEach((input, memory) -> fill(memory.order(ByteOrder.nativeOrder()), type(input)));
  }

  private OnnxJavaType type(String input) {
    return types.get(input).type;
  }

  private Map<String, long[]> complete(Map<String, long[]> told) {
    for (String input : told.keySet()) {
      if (!types.containsKey(input)) {
        throw new IllegalArgumentException(
            "--shape has `" + input + "`, which is no input of " + name + ": " + types.keySet());
      }
    }
    Map<String, long[]> shape = new LinkedHashMap<>();
    types.forEach(
        (input, info) -> {
          long[] known = info.getShape();
          long[] asked = told.getOrDefault(input, known);
          boolean fits = asked.length == known.length;
          for (int i = 0; fits && i < known.length; i++) {
            fits = asked[i] > 0 && (known[i] < 0 || known[i] == asked[i]);
          }
          if (!fits) {
            throw new IllegalArgumentException(
                told.containsKey(input)
                    ? String.format(
                        "--shape has %s for `%s`, not what %s wants: %s",
                        Arrays.toString(asked), input, name, Arrays.toString(known))
                    : String.format(
                        "--shape is not there for `%s` of %s, whose dimensions are %s",
                        input, name, Arrays.toString(known)));
          }
          shape.put(input, asked);
        });
    return shape;
  }

  private int size(String input, long[] dimensions) {
    OnnxJavaType type = type(input);
    if (type == OnnxJavaType.STRING || type == OnnxJavaType.UNKNOWN) {
      throw new IllegalArgumentException(
          "--model " + name + " has the input `" + input + "` of " + type + ", not of numbers");
    }
    long size = type.size;
    for (long dimension : dimensions) {
      // Both factors are below 2^31 here, so the product fits a long.
      if (size > Integer.MAX_VALUE) {
        break;
      }
      size *= dimension;
    }
    if (size > Integer.MAX_VALUE) {
      throw new IllegalArgumentException(
          String.format(
              "--shape has %s for `%s` of %s, which is more than %d bytes",
              Arrays.toString(dimensions), input, name, Integer.MAX_VALUE));
    }
    return (int) size;
  }

  /** Numbers that differ for what is computed with; zeros and ones for what may be an index. */
  private static void fill(ByteBuffer memory, OnnxJavaType type) {
    int count = memory.capacity() / type.size;
    for (int i = 0; i < count; i++) {
      int bit = (i + 1) & 1;
      switch (type) {
        case FLOAT -> memory.putFloat(i * Float.BYTES, (float) Math.sin(i));
        case DOUBLE -> memory.putDouble(i * Double.BYTES, Math.sin(i));
        case INT64 -> memory.putLong(i * Long.BYTES, bit);
        case INT32 -> memory.putInt(i * Integer.BYTES, bit);
        case INT16 -> memory.putShort(i * Short.BYTES, (short) bit);
        // Ones, in either way to write them.
        case FLOAT16 -> memory.putShort(i * Short.BYTES, (short) (bit * 0x3c00));
        case BFLOAT16 -> memory.putShort(i * Short.BYTES, (short) (bit * 0x3f80));
        default -> memory.put(i, (byte) bit);
      }
    }
  }

  OrtSession session() {
    return session;
  }

  /** What its runs are told apart by from those of other models. */
  String name() {
    return name;
  }

  /**
   * The inputs of a shape, which look at the bytes in place.
   *
   * @param shape its index
   * @return to be closed
   */
  Map<String, OnnxTensor> inputs(OrtEnvironment environment, int shape) throws OrtException {
    Map<String, OnnxTensor> inputs = new HashMap<>();
    try {
      for (Map.Entry<String, long[]> each : shapes.get(shape).entrySet()) {
        String input = each.getKey();
        ByteBuffer part = bytes.get(input).duplicate().order(ByteOrder.nativeOrder());
        part.limit(size(input, each.getValue()));
        inputs.put(input, OnnxTensor.createTensor(environment, part, each.getValue(), type(input)));
      }
      return inputs;
    } catch (Throwable e) {
      inputs.values().forEach(OnnxTensor::close);
      throw e;
    }
  }
}
