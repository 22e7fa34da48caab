package io.prmalloc.example.model;

import ai.onnxruntime.OnnxJavaType;
import io.prmalloc.onnxruntime.TensorSpec;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * A model from a file, and the shapes of its inputs that are served.
 *
 * <p>Threading: immutable.
 *
 * @param file in ONNX's format
 * @param shapes one for each input of the model
 */
public record ModelFile(Path file, List<ShapeRange> shapes) {

  /** By which it is served. */
  public static final String NAME = "model";

  /**
   * Copies the list.
   *
   * @throws IllegalArgumentException if there is no such file, no shape or two of one input
   */
  public ModelFile {
    if (!Files.isRegularFile(file)) {
      throw new IllegalArgumentException("model " + file + ": there is no such file");
    }
    shapes = List.copyOf(shapes);
    if (shapes.isEmpty()) {
      throw new IllegalArgumentException("model " + file + ": no input has a shape");
    }
    Set<String> inputs = new HashSet<>();
    for (ShapeRange range : shapes) {
      if (!inputs.add(range.input())) {
        throw new IllegalArgumentException("input " + range.input() + " has two shapes");
      }
    }
  }

  /** The shapes of an input, or null if it has none. */
  public ShapeRange shape(String input) {
    return shapes.stream().filter(range -> range.input().equals(input)).findFirst().orElse(null);
  }

  /**
   * Holds the shapes against what the model says of its inputs.
   *
   * @param maxBytes the most bytes of all inputs of a request
   * @throws IllegalArgumentException if they do not fit; names the input, the value and the bound
   */
  public void check(List<TensorSpec> inputs, long maxBytes) {
    for (ShapeRange range : shapes) {
      if (inputs.stream().noneMatch(spec -> spec.name().equals(range.input()))) {
        throw new IllegalArgumentException(
            "shape " + range + ": the model has no such input; there are " + inputs);
      }
    }
    long bytes = 0;
    for (TensorSpec spec : inputs) {
      ShapeRange range = shape(spec.name());
      if (range == null) {
        throw new IllegalArgumentException("input " + spec + " has no shape");
      }
      check(range, spec);
      bytes = Math.addExact(bytes, range.largestBytes());
    }
    if (bytes > maxBytes) {
      throw new IllegalArgumentException(
          "shape " + shapes + ": the largest has " + bytes + " bytes, over " + maxBytes);
    }
  }

  private static void check(ShapeRange range, TensorSpec spec) {
    if (spec.type() != OnnxJavaType.FLOAT) {
      throw new IllegalArgumentException("input " + spec + " is not of FLOAT");
    }
    int count = spec.dimensions().size();
    if (range.dimensions().size() != count) {
      throw new IllegalArgumentException(
          "shape "
              + range
              + " has "
              + range.dimensions().size()
              + " dimensions, input "
              + spec
              + " has "
              + count);
    }
    for (int i = 0; i < count; i++) {
      TensorSpec.Dimension given = spec.dimensions().get(i);
      ShapeRange.Dimension sizes = range.dimensions().get(i);
      if (!given.isDynamic() && !(sizes.isFixed() && sizes.least() == given.size())) {
        throw new IllegalArgumentException(
            "shape " + range + ": dimension " + i + " is " + sizes + ", not " + given.size());
      }
    }
  }
}
