package io.prmalloc.plan;

import java.util.List;
import java.util.stream.Collectors;

/**
 * The size of a tensor that lies in a two-, three- or four-dimensional object, such as a texture:
 * it may share an object only as the strategy compares shapes, dimension by dimension.
 *
 * <p>Threading: immutable.
 *
 * @param dimensions two to four numbers from 0, in the order of the file or the framework
 */
public record TensorShape(List<Long> dimensions) {

  /** The most dimensions a shape has. */
  public static final int MAX_DIMENSIONS = 4;

  /**
   * Threading: any thread.
   *
   * @throws IllegalArgumentException if there are fewer than two or more than four dimensions, one
   *     is negative, or their product passes 2^63 − 1
   */
  public TensorShape {
    dimensions = List.copyOf(dimensions);
    if (dimensions.size() < 2 || dimensions.size() > MAX_DIMENSIONS) {
      throw new IllegalArgumentException(
          "a shape has " + dimensions.size() + " dimensions; it needs 2 to " + MAX_DIMENSIONS);
    }
    for (long dimension : dimensions) {
      if (dimension < 0) {
        throw new IllegalArgumentException(
            "dimension " + dimension + " is negative; the least is 0");
      }
    }
    elements(dimensions);
  }

  /**
   * A shape of these dimensions.
   *
   * <p>Threading: any thread.
   *
   * @throws IllegalArgumentException as the constructor
   */
  public static TensorShape of(Long... dimensions) {
    return new TensorShape(List.of(dimensions));
  }

  /** The product of the dimensions. Threading: any thread. */
  public long elementCount() {
    return elements(dimensions);
  }

  private static long elements(List<Long> dimensions) {
    if (dimensions.contains(0L)) {
      return 0;
    }
    long product = 1;
    for (long dimension : dimensions) {
      if (product > Long.MAX_VALUE / dimension) {
        throw new IllegalArgumentException(
            "shape " + text(dimensions) + " has more than 2^63 - 1 elements");
      }
      product *= dimension;
    }
    return product;
  }

  /**
   * Whether this is at least as large as another in every dimension; never if they have different
   * numbers of dimensions.
   *
   * <p>Threading: any thread.
   */
  public boolean covers(TensorShape other) {
    if (dimensions.size() != other.dimensions.size()) {
      return false;
    }
    for (int i = 0; i < dimensions.size(); i++) {
      if (dimensions.get(i) < other.dimensions.get(i)) {
        return false;
      }
    }
    return true;
  }

  /** As files have it: {@code 2x8}. Threading: any thread. */
  @Override
  public String toString() {
    return text(dimensions);
  }

  private static String text(List<Long> dimensions) {
    return dimensions.stream().map(String::valueOf).collect(Collectors.joining("x"));
  }
}
