package io.prmalloc.onnx;

import io.prmalloc.plan.arena.Graph;
import java.util.Arrays;
import java.util.stream.Collectors;

/**
 * What is known of a tensor before a model runs.
 *
 * <p>Threading: immutable; the arrays are not changed.
 */
final class Value {

  /** A dimension that is unknown. */
  static final long OPEN = -1;

  /** Nothing is known. */
  static final Value UNKNOWN = new Value(null, null, null);

  /** The largest tensor whose content is kept, in elements. */
  static final int MAX_CONTENT = 1024;

  /** Shapes of real models have few dimensions; each node can double the number of them. */
  private static final int MAX_RANK = 64;

  private static final int MAX_DESCRIBED = 8;

  private final OnnxType type;
  private final long[] dims;
  private final double[] content;

  /**
   * @param type of its elements, null if unknown
   * @param dims its shape, outermost first, {@link #OPEN} for each dimension that is unknown; null
   *     if not even the number of dimensions is known
   * @param content its elements, for the few tensors that tell shapes; null if unknown, and
   *     forgotten if it does not have the elements of the shape or too many. A double holds whole
   *     numbers up to 2^53 exactly; no dimension can be larger.
   * @throws IllegalArgumentException if it cannot be: a negative dimension, too many dimensions, or
   *     more bytes than a graph can hold
   */
  Value(OnnxType type, long[] dims, double[] content) {
    if (dims != null) {
      if (dims.length > MAX_RANK) {
        throw new IllegalArgumentException(
            "a shape of " + dims.length + " dimensions is more than " + MAX_RANK);
      }
      for (long dim : dims) {
        if (dim < OPEN || dim > Graph.MAX_TENSOR_BYTES) {
          throw new IllegalArgumentException(
              "a shape of "
                  + describe(dims)
                  + " is not of dimensions from 0 to "
                  + Graph.MAX_TENSOR_BYTES);
        }
      }
      if (elements(dims) > 2 * Graph.MAX_TENSOR_BYTES
          || (type != null && type.bytes(elements(dims)) > Graph.MAX_TENSOR_BYTES)) {
        throw new IllegalArgumentException(
            describe(dims)
                + (type == null ? "" : " of " + type)
                + " is more than "
                + Graph.MAX_TENSOR_BYTES
                + " bytes");
      }
    }
    this.type = type;
    this.dims = dims;
    this.content =
        content == null
                || dims == null
                || content.length > MAX_CONTENT
                || elements(dims) != content.length
            ? null
            : content;
  }

  static Value of(OnnxType type, long... dims) {
    return new Value(type, dims, null);
  }

  /** Of its elements, null if unknown. */
  OnnxType type() {
    return type;
  }

  /** Null if not even the number of dimensions is known. */
  long[] dims() {
    return dims;
  }

  /** Null if unknown. */
  double[] content() {
    return content;
  }

  /** Whether the number of bytes is known. */
  boolean hasSize() {
    return type != null && type.hasSize() && isClosed();
  }

  /** Whether every dimension is known. */
  boolean isClosed() {
    return dims != null && Arrays.stream(dims).allMatch(dim -> dim != OPEN);
  }

  /** Only where {@link #hasSize}. */
  long bytes() {
    return type.bytes(elements(dims));
  }

  int rank() {
    return dims.length;
  }

  /** Elements of a shape, without its open dimensions; above every bound where it overflows. */
  static long elements(long... dims) {
    long elements = 1;
    for (long dim : dims) {
      if (dim == 0) {
        return 0;
      }
    }
    for (long dim : dims) {
      if (dim == OPEN) {
        continue;
      }
      if (elements > 4 * Graph.MAX_TENSOR_BYTES / dim) {
        return 4 * Graph.MAX_TENSOR_BYTES;
      }
      elements *= dim;
    }
    return elements;
  }

  /** For people: {@code 1x3x?}. */
  static String describe(long... dims) {
    if (dims.length == 0) {
      return "a scalar";
    }
    return Arrays.stream(dims)
            .limit(MAX_DESCRIBED)
            .mapToObj(dim -> dim == OPEN ? "?" : Long.toString(dim))
            .collect(Collectors.joining("x"))
        + (dims.length > MAX_DESCRIBED ? "x…" : "");
  }
}
