package io.prmalloc.onnx;

import static io.prmalloc.model.ModelFormatException.quote;

import io.prmalloc.model.ModelFormatException;
import io.prmalloc.onnx.OnnxModel.Body;
import io.prmalloc.onnx.OnnxModel.Declared;
import io.prmalloc.onnx.OnnxModel.Dim;
import io.prmalloc.onnx.OnnxModel.Operation;
import io.prmalloc.onnx.OnnxModel.Stated;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The dimensions that a model leaves open and a user sets: by name, or by the shape of an input,
 * from which the names in it follow.
 *
 * <p>Threading: one thread.
 */
final class Dimensions {

  private static final int MAX_LISTED = 20;

  private final String file;
  private final Map<String, Long> sizes = new LinkedHashMap<>();
  private final Map<String, long[]> inputs = new LinkedHashMap<>();
  private boolean contradictory;

  private Dimensions(String file) {
    this.file = file;
  }

  /**
   * @throws IllegalArgumentException if the shapes do not fit the model, or leave an input open
   */
  static Dimensions of(String file, OnnxModel model, Map<String, List<Integer>> shapes) {
    Dimensions dimensions = new Dimensions(file);
    Map<String, Declared> declared = new LinkedHashMap<>();
    for (Declared input : model.graph().inputs()) {
      if (!model.graph().constants().containsKey(input.name())) {
        declared.put(input.name(), input);
      }
    }
    shapes.forEach(
        (name, shape) -> {
          if (declared.containsKey(name)) {
            dimensions.setInput(declared.get(name), shape);
          }
        });
    Set<String> names = new LinkedHashSet<>();
    collect(model.graph(), names);
    shapes.forEach(
        (name, shape) -> {
          if (!declared.containsKey(name)) {
            dimensions.setName(name, shape, names, declared.keySet());
          }
        });
    dimensions.checkClosed(declared.values());
    return dimensions;
  }

  private void setInput(Declared input, List<Integer> shape) {
    Stated stated = input.stated();
    if (stated != null && stated.dims() != null) {
      if (stated.dims().size() != shape.size()) {
        throw wrong(
            input.name(),
            shape,
            "the input has " + stated.dims().size() + " dimensions: " + describe(stated));
      }
      for (int i = 0; i < shape.size(); i++) {
        Dim dim = stated.dims().get(i);
        if (!dim.parameter().isEmpty()) {
          set(dim.parameter(), shape.get(i), input.name(), shape);
        }
        contradictory |= dim.size() != Value.OPEN && dim.size() != shape.get(i);
      }
    }
    inputs.put(input.name(), shape.stream().mapToLong(Integer::longValue).toArray());
  }

  private void setName(String name, List<Integer> shape, Set<String> names, Set<String> inputs) {
    if (!names.contains(name)) {
      throw wrong(
          name,
          shape,
          "there is no input and no dimension of that name; inputs: "
              + list(inputs)
              + "; dimensions: "
              + list(names));
    }
    if (shape.size() != 1) {
      throw wrong(name, shape, "that is the name of a dimension, which has one size");
    }
    set(name, shape.get(0), name, shape);
  }

  private void set(String parameter, long size, String name, List<Integer> shape) {
    Long before = sizes.putIfAbsent(parameter, size);
    if (before != null && before != size) {
      throw wrong(
          name,
          shape,
          "dimension " + quote(parameter) + " would be both " + before + " and " + size);
    }
  }

  private IllegalArgumentException wrong(String name, List<Integer> shape, String what) {
    return new IllegalArgumentException(
        file
            + ": --shape "
            + name
            + "="
            + shape.stream().map(String::valueOf).collect(Collectors.joining("x"))
            + ": "
            + what);
  }

  private void checkClosed(Iterable<Declared> declared) {
    List<String> open = new ArrayList<>();
    for (Declared input : declared) {
      Stated stated = input.stated();
      // A sequence or a map has no shape that one could set.
      boolean tensor = stated == null || stated.type() != null;
      if (tensor && !value(input).isClosed()) {
        open.add(quote(input.name()) + " is " + describe(stated));
      }
    }
    if (!open.isEmpty()) {
      throw new IllegalArgumentException(
          file
              + ": the model leaves the shape of "
              + (open.size() == 1 ? "an input" : open.size() + " inputs")
              + " open: "
              + open.stream().limit(MAX_LISTED).collect(Collectors.joining(", "))
              + "; set it with --shape INPUT=AxB, or a named dimension with --shape NAME=N");
    }
  }

  private String describe(Stated stated) {
    if (stated == null || stated.dims() == null) {
      return "of no shape";
    }
    return stated.dims().stream()
        .limit(MAX_LISTED)
        .map(
            dim -> {
              long size = size(dim);
              return size != Value.OPEN
                  ? Long.toString(size)
                  : dim.parameter().isEmpty() ? "?" : dim.parameter().replaceAll("\\p{Cntrl}", "?");
            })
        .collect(Collectors.joining("x"));
  }

  private static String list(Set<String> names) {
    return names.isEmpty()
        ? "none"
        : names.stream()
                .limit(MAX_LISTED)
                .map(ModelFormatException::quote)
                .collect(Collectors.joining(", "))
            + (names.size() > MAX_LISTED ? " and " + (names.size() - MAX_LISTED) + " more" : "");
  }

  /** Every name of a dimension in a graph. */
  private static void collect(Body body, Set<String> names) {
    for (List<Declared> list : List.of(body.inputs(), body.stated(), body.outputs())) {
      for (Declared declared : list) {
        if (declared.stated() != null && declared.stated().dims() != null) {
          declared.stated().dims().stream()
              .map(Dim::parameter)
              .filter(name -> !name.isEmpty())
              .forEach(names::add);
        }
      }
    }
    for (Operation operation : body.operations()) {
      operation
          .attributes()
          .values()
          .forEach(a -> a.bodies().forEach(inner -> collect(inner, names)));
    }
  }

  private long size(Dim dim) {
    return dim.parameter().isEmpty() || dim.size() != Value.OPEN
        ? dim.size()
        : sizes.getOrDefault(dim.parameter(), Value.OPEN);
  }

  /**
   * What a model states of a value, with the sizes that were set.
   *
   * @throws ModelFormatException if it is too large
   */
  Value value(Declared declared) {
    Stated stated = declared.stated();
    if (stated == null) {
      return Value.UNKNOWN;
    }
    long[] dims =
        inputs.containsKey(declared.name())
            ? inputs.get(declared.name())
            : stated.dims() == null ? null : stated.dims().stream().mapToLong(this::size).toArray();
    try {
      return new Value(stated.type(), dims, null);
    } catch (IllegalArgumentException tooLarge) {
      throw new ModelFormatException(file, declared.place(), tooLarge.getMessage());
    }
  }

  /**
   * Whether a shape was set that is not the one which the model has, so that what it states of
   * other values does not hold.
   */
  boolean isContradictory() {
    return contradictory;
  }
}
