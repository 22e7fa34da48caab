/**
 * The adapter for DJL: {@link io.prmalloc.djl.PooledNDArray} is an {@code NDArray} over memory of
 * any allocator, made through {@code NDManager.create(Buffer, Shape, DataType)}.
 *
 * <p>May use: {@code io.prmalloc} and {@code ai.djl:api}, which is optional: nothing else in this
 * project imports DJL.
 *
 * <p>Conventions: shapes and types are DJL's; bytes are in native order.
 */
package io.prmalloc.djl;
