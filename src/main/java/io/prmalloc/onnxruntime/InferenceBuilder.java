package io.prmalloc.onnxruntime;

import ai.onnxruntime.OrtException;
import io.prmalloc.onnxruntime.TensorSpec.Dimension;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Settles the shapes of one request. Dimensions that the model fixes need no word; a dynamic one is
 * settled by {@link #dimension} under the name that the model gives it, or by the shape of an input
 * or output that has it. What is not settled of an output is learnt from the first run on inputs of
 * the same shapes.
 *
 * <p>Threading: one thread.
 */
public final class InferenceBuilder {
  // Shapes are settled before memory is taken, for outputs are pinned: ONNX Runtime writes them
  // where we say, so we must know how large they get. Named dimensions make that one number per
  // request in practice (the batch). An output of unknown shape is the engine's in the first run,
  // and copied; what that run shows is enough to pin it from the next one on, if inputs of the same
  // shapes always give it. If they do not, its size depends on the data, and it stays so.

  private final OnnxModel model;
  private final Map<String, TensorSpec> inputs;
  private final Map<String, TensorSpec> outputs;
  private final Map<String, Long> sizes = new HashMap<>();
  private final Map<String, long[]> shapes = new HashMap<>();
  private List<String> wanted;

  InferenceBuilder(
      OnnxModel model, Map<String, TensorSpec> inputs, Map<String, TensorSpec> outputs) {
    this.model = model;
    this.inputs = inputs;
    this.outputs = outputs;
    this.wanted = List.copyOf(outputs.keySet());
  }

  /**
   * Settles a dynamic dimension, wherever it occurs.
   *
   * <p>Threading: one thread.
   *
   * @param name what the model calls it
   * @param size from 0
   * @throws IllegalArgumentException if no input or output has a dynamic dimension of this name,
   *     {@code size} is negative, or the dimension was settled otherwise
   */
  public InferenceBuilder dimension(String name, long size) {
    boolean known = false;
    for (Map<String, TensorSpec> side : List.of(inputs, outputs)) {
      for (TensorSpec spec : side.values()) {
        known |= spec.dimensions().stream().anyMatch(d -> d.isDynamic() && d.name().equals(name));
      }
    }
    if (!known || name.isEmpty()) {
      throw new IllegalArgumentException(
          "no dynamic dimension is named `"
              + name
              + "`; there are "
              + inputs.values()
              + " and "
              + outputs.values());
    }
    settle("dimension " + name, name, size);
    return this;
  }

  /**
   * Settles the shape of an input, and with it the named dimensions that it has.
   *
   * <p>Threading: one thread.
   *
   * @param shape all dimensions, outermost first
   * @throws IllegalArgumentException if the model has no such input, or the shape does not fit what
   *     the model or an earlier call says; nothing has changed then
   */
  public InferenceBuilder input(String name, long... shape) {
    return shape("input", spec("input", inputs, name), shape);
  }

  /**
   * Settles the shape of an output, and with it the named dimensions that it has.
   *
   * <p>Threading: one thread.
   *
   * @param shape all dimensions, outermost first
   * @throws IllegalArgumentException as {@link #input}
   */
  public InferenceBuilder output(String name, long... shape) {
    return shape("output", spec("output", outputs, name), shape);
  }

  /**
   * Chooses what is to come out; without this call, all tensors of numbers. Others get no memory,
   * and the engine is not asked for them.
   *
   * <p>Threading: one thread.
   *
   * @param names at least one
   * @throws IllegalArgumentException if there is none, the model has no such output, or it is no
   *     tensor of numbers
   */
  public InferenceBuilder outputs(String... names) {
    if (names.length == 0) {
      throw new IllegalArgumentException("no output is wanted; there are " + outputs.keySet());
    }
    for (String name : names) {
      String other = model.others().get(name);
      if (other != null) {
        throw new IllegalArgumentException(
            "output "
                + name
                + " is no tensor of numbers but "
                + other
                + "; run the session for it");
      }
      spec("output", outputs, name);
    }
    wanted = List.copyOf(List.of(names).stream().distinct().toList());
    return this;
  }

  private static TensorSpec spec(String side, Map<String, TensorSpec> specs, String name) {
    TensorSpec spec = specs.get(name);
    if (spec == null) {
      throw new IllegalArgumentException(
          "the model has no " + side + " `" + name + "`; there are " + specs.keySet());
    }
    return spec;
  }

  private InferenceBuilder shape(String side, TensorSpec spec, long... shape) {
    String what = side + " " + spec.name();
    List<Dimension> dimensions = spec.dimensions();
    if (shape.length != dimensions.size()) {
      throw unfit(what, shape, "it has " + dimensions.size() + " dimensions: " + dimensions);
    }
    for (int i = 0; i < shape.length; i++) {
      long size = shape[i];
      Dimension dimension = dimensions.get(i);
      long settled =
          dimension.isDynamic() ? sizes.getOrDefault(dimension.name(), size) : dimension.size();
      if (size < 0 || size != settled) {
        throw unfit(what, shape, "dimension " + i + " is " + (size < 0 ? dimension : settled));
      }
    }
    Map<String, Long> found = new HashMap<>();
    for (int i = 0; i < shape.length; i++) {
      Dimension dimension = dimensions.get(i);
      if (dimension.isDynamic() && !dimension.name().isEmpty()) {
        Long other = found.put(dimension.name(), shape[i]);
        if (other != null && other != shape[i]) {
          throw unfit(what, shape, "dimension " + i + " is " + dimension.name() + ", so " + other);
        }
      }
    }
    sizes.putAll(found);
    shapes.put(what, shape.clone());
    return this;
  }

  private static IllegalArgumentException unfit(String what, long[] shape, String why) {
    return new IllegalArgumentException(
        what + ": shape " + Arrays.toString(shape) + " does not fit: " + why);
  }

  private void settle(String what, String name, long size) {
    if (size < 0) {
      throw new IllegalArgumentException(what + ": size " + size + " is negative");
    }
    Long settled = sizes.putIfAbsent(name, size);
    if (settled != null && settled != size) {
      throw new IllegalArgumentException(
          what + ": size " + size + " does not fit " + settled + ", which was settled before");
    }
  }

  /**
   * Takes memory for all tensors and makes them.
   *
   * <p>Threading: one thread.
   *
   * @return tensors whose inputs hold anything, to be filled
   * @throws IllegalArgumentException if a dimension of an input is not settled (the message says
   *     which, and how), or a tensor is larger than the memory can give
   * @throws io.prmalloc.OutOfNativeMemoryException if the memory is not available
   * @throws OrtException if ONNX Runtime refuses a tensor; in all cases nothing is kept
   */
  public Inference open() throws OrtException {
    Map<String, TensorView.Layout> in = new LinkedHashMap<>();
    for (TensorSpec spec : inputs.values()) {
      long[] shape = shapes.get("input " + spec.name());
      in.put(spec.name(), layout("input", spec, shape == null ? inputShape(spec) : shape));
    }
    Map<String, TensorView.Layout> out = new LinkedHashMap<>();
    Set<String> learnt = new HashSet<>();
    for (String name : wanted) {
      TensorSpec spec = outputs.get(name);
      long[] shape = shapes.get("output " + name);
      // A model that says nothing of an output's shape seems to have a single element there.
      if (shape == null && !spec.dimensions().isEmpty() && open(spec).isEmpty()) {
        shape = settled(spec);
      } else if (shape == null) {
        shape = model.learnt().find(LearntShapes.keyOf(in), name);
        learnt.add(name);
      }
      out.put(
          name,
          shape == null ? new TensorView.Layout(spec, null, 0) : layout("output", spec, shape));
    }
    return Inference.open(model, in, out, learnt);
  }

  static TensorView.Layout layout(String side, TensorSpec spec, long... shape) {
    long bytes = spec.type().size;
    for (long size : shape) {
      try {
        bytes = Math.multiplyExact(bytes, size);
      } catch (ArithmeticException tooLarge) {
        throw unfit(side + " " + spec.name(), shape, "it has more bytes than can be counted");
      }
    }
    return new TensorView.Layout(spec, shape, bytes);
  }

  private long[] inputShape(TensorSpec spec) {
    List<String> open = open(spec);
    if (!open.isEmpty()) {
      throw new IllegalArgumentException(
          "input "
              + spec.name()
              + " "
              + spec.dimensions()
              + ": not settled is dimension "
              + String.join(", ", open)
              + "; say dimension(name, size) or input(\""
              + spec.name()
              + "\", shape)");
    }
    return settled(spec);
  }

  /** Null if it was not given. */
  private Long size(Dimension dimension) {
    return dimension.isDynamic() ? sizes.get(dimension.name()) : (Long) dimension.size();
  }

  /** The dimensions that are not settled. */
  private List<String> open(TensorSpec spec) {
    List<String> open = new ArrayList<>();
    for (int i = 0; i < spec.dimensions().size(); i++) {
      Dimension dimension = spec.dimensions().get(i);
      if (size(dimension) == null) {
        open.add(dimension.name().isEmpty() ? "number " + i : dimension.name());
      }
    }
    return open;
  }

  private long[] settled(TensorSpec spec) {
    return spec.dimensions().stream().mapToLong(this::size).toArray();
  }
}
