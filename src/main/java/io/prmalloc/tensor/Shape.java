package io.prmalloc.tensor;

import java.util.Arrays;
import java.util.Objects;

/**
 * The sizes of a tensor's dimensions, outermost first. A shape of no dimensions is that of a single
 * element; a shape with a dimension of size 0 has no elements.
 *
 * <p>Threading: immutable.
 */
public final class Shape {

  /** The most dimensions a shape can have, as in TensorFlow. */
  public static final int MAX_RANK = 254;

  private static final Shape SCALAR = new Shape(new long[0]);

  private final long[] sizes;
  private final long[] strides;
  private final long elementCount;

  private Shape(long[] sizes) {
    this.sizes = sizes;
    this.strides = new long[sizes.length];
    long stride = 1;
    boolean empty = false;
    for (int i = sizes.length - 1; i >= 0; i--) {
      if (sizes[i] < 0) {
        throw new IllegalArgumentException(
            "size " + sizes[i] + " of dimension " + i + " is negative; the least is 0");
      }
      strides[i] = stride;
      empty |= sizes[i] == 0;
      // An empty dimension leaves the strides of those outside it alone, and must not hide that
      // they overflow.
      stride = product(stride, Math.max(1, sizes[i]), sizes);
    }
    this.elementCount = empty ? 0 : stride;
  }

  private static long product(long stride, long size, long[] sizes) {
    if (stride > Long.MAX_VALUE / size) {
      throw new IllegalArgumentException(
          "shape " + Arrays.toString(sizes) + " has more than 2^63 - 1 elements");
    }
    return stride * size;
  }

  /**
   * A shape with these sizes.
   *
   * <p>Threading: any thread.
   *
   * @param sizes from 0, outermost first; none for a single element
   * @throws IllegalArgumentException if there are more than {@link #MAX_RANK}, one is negative, or
   *     the product of those that are not 0 is over 2^63 − 1
   */
  public static Shape of(long... sizes) {
    if (sizes.length > MAX_RANK) {
      throw new IllegalArgumentException(
          "shape has " + sizes.length + " dimensions; the most is " + MAX_RANK);
    }
    return new Shape(sizes.clone());
  }

  /** The shape of a single element. Threading: any thread. */
  public static Shape scalar() {
    return SCALAR;
  }

  /** How many dimensions there are. Threading: any thread. */
  public int rank() {
    return sizes.length;
  }

  /**
   * The size of a dimension.
   *
   * <p>Threading: any thread.
   *
   * @param dimension from 0, the outermost
   * @throws IndexOutOfBoundsException if there is no such dimension
   */
  public long size(int dimension) {
    return sizes[Objects.checkIndex(dimension, sizes.length)];
  }

  /**
   * How many elements lie between neighbours along a dimension: 1 for the last one.
   *
   * <p>Threading: any thread.
   *
   * @param dimension from 0, the outermost
   * @throws IndexOutOfBoundsException if there is no such dimension
   */
  public long stride(int dimension) {
    return strides[Objects.checkIndex(dimension, strides.length)];
  }

  /** The product of all sizes; 1 if there are none. Threading: any thread. */
  public long elementCount() {
    return elementCount;
  }

  /**
   * Which element, in row-major order, has these indices.
   *
   * <p>Threading: any thread.
   *
   * @param indices one for each dimension, from 0
   * @throws IllegalArgumentException if there are more or fewer of them
   * @throws IndexOutOfBoundsException if one is outside its dimension
   */
  public long elementAt(long... indices) {
    if (indices.length != sizes.length) {
      throw new IllegalArgumentException(
          indices.length + " indices for a shape of " + sizes.length + " dimensions");
    }
    long element = 0;
    for (int i = 0; i < sizes.length; i++) {
      if (indices[i] < 0 || indices[i] >= sizes[i]) {
        throw new IndexOutOfBoundsException(
            "index " + indices[i] + " of dimension " + i + " is not from 0 to " + (sizes[i] - 1));
      }
      element += indices[i] * strides[i];
    }
    return element;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Shape shape && Arrays.equals(sizes, shape.sizes);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(sizes);
  }

  /** The sizes, as in {@code [2, 3]}. */
  @Override
  public String toString() {
    return Arrays.toString(sizes);
  }
}
