/**
 * Tensors: elements of one type in memory of an allocator, with a shape.
 *
 * <p>{@link io.prmalloc.tensor.Tensor} is the elements, {@link io.prmalloc.tensor.Shape} how they
 * are counted. How tensors go over the wire is the business of {@code io.prmalloc.tensor.wire}.
 *
 * <p>May use: {@code io.prmalloc}.
 *
 * <p>Conventions: row-major order, the last dimension varies fastest; sizes and strides are counted
 * in elements, and in bytes where the name says so.
 */
package io.prmalloc.tensor;
