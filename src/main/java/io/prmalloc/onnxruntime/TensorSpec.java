package io.prmalloc.onnxruntime;

import ai.onnxruntime.NodeInfo;
import ai.onnxruntime.OnnxJavaType;
import ai.onnxruntime.TensorInfo;
import java.util.ArrayList;
import java.util.List;

/**
 * The description of one input or output in a model.
 *
 * <p>Threading: immutable.
 *
 * @param name by which the model knows it
 * @param type of its elements
 * @param dimensions outermost first; none for a single element
 */
public record TensorSpec(String name, OnnxJavaType type, List<Dimension> dimensions) {

  /**
   * One dimension.
   *
   * <p>Threading: immutable.
   *
   * @param name what the model calls it, or an empty string; dimensions of one name are of one size
   * @param size how many, or {@link #DYNAMIC}
   */
  public record Dimension(String name, long size) {

    /** The size of a dimension that each request settles. */
    public static final long DYNAMIC = -1;

    /** Whether each request settles it. Threading: any thread. */
    public boolean isDynamic() {
      return size < 0;
    }

    @Override
    public String toString() {
      return isDynamic() ? name.isEmpty() ? "?" : name : Long.toString(size);
    }
  }

  /** Copies the list. Threading: any thread. */
  public TensorSpec {
    dimensions = List.copyOf(dimensions);
  }

  /** Whether a node of a session is a tensor of numbers, which is what our memory can hold. */
  static boolean isTensorOfNumbers(NodeInfo node) {
    return node.getInfo() instanceof TensorInfo info
        && info.type != OnnxJavaType.STRING
        && info.type != OnnxJavaType.UNKNOWN;
  }

  /** What a node of a session is; what is no tensor of numbers is refused. */
  static TensorSpec of(NodeInfo node) {
    if (!isTensorOfNumbers(node)) {
      throw new IllegalArgumentException(
          node.getName() + " is no tensor of numbers but " + node.getInfo());
    }
    TensorInfo info = (TensorInfo) node.getInfo();
    long[] shape = info.getShape();
    String[] names = info.getDimensionNames();
    List<Dimension> dimensions = new ArrayList<>();
    for (int i = 0; i < shape.length; i++) {
      String name = names != null && i < names.length && names[i] != null ? names[i] : "";
      dimensions.add(new Dimension(name, shape[i]));
    }
    return new TensorSpec(node.getName(), info.type, dimensions);
  }

  @Override
  public String toString() {
    return name + " " + type + " " + dimensions;
  }
}
