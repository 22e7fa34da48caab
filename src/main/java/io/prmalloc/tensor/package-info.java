/**
 * Tensors: elements of one type in memory of an allocator, with a shape.
 *
 * <p>{@link io.prmalloc.tensor.Tensor} holds the elements, {@link io.prmalloc.tensor.Shape} the
 * sizes of its dimensions. {@code io.prmalloc.tensor.wire} reads and writes tensors as messages.
 *
 * <p>May use: {@code io.prmalloc}.
 *
 * <p>Conventions: row-major order, the last dimension varies fastest; sizes and strides are counted
 * in elements, and in bytes where the name says so.
 */
package io.prmalloc.tensor;
