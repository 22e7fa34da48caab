/**
 * The allocator's public face: what every allocator offers and what a user holds.
 *
 * <p>{@link io.prmalloc.Allocator} gives memory as checked handles ({@link io.prmalloc.Allocation})
 * or as raw addresses; {@link io.prmalloc.SubAllocator} is where allocators get theirs; {@link
 * io.prmalloc.CpuAllocator} is the plain default. The pool that learns is {@code
 * io.prmalloc.pool.TensorPoolAllocator}.
 *
 * <p>May use: {@code io.prmalloc.os}, Agrona.
 *
 * <p>Conventions: sizes are bytes in a {@code long} named {@code …Bytes}; an alignment is a power
 * of two; bad arguments are answered with an exception that names the argument, its value and the
 * bound; a call that fails changes nothing.
 */
package io.prmalloc;
