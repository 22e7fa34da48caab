package io.prmalloc.example.model;

import ai.onnxruntime.OnnxJavaType;
import io.prmalloc.onnxruntime.TensorView;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;

/**
 * An input to be filled, or an output to be read.
 *
 * <p>Threading: as that of any buffer.
 *
 * @param bytes all elements in native order; a view of its own at each call
 */
public record TensorBytes(String name, OnnxJavaType type, List<Long> shape, ByteBuffer bytes) {

  public static TensorBytes of(TensorView view) {
    return new TensorBytes(view.name(), view.type(), list(view.shape()), view.bytes());
  }

  public static List<Long> list(long[] shape) {
    return Arrays.stream(shape).boxed().toList();
  }

  @Override
  public ByteBuffer bytes() {
    return bytes.slice().order(ByteOrder.nativeOrder());
  }

  @Override
  public String toString() {
    return name + " " + type + " " + shape;
  }
}
