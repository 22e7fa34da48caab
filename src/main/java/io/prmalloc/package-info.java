/**
 * The allocator's public face: what every allocator offers and what a user holds.
 *
 * <p>{@link io.prmalloc.Allocator} gives memory as checked handles ({@link io.prmalloc.Allocation})
 * or as raw addresses; {@link io.prmalloc.SubAllocator} is where allocators get theirs; {@link
 * io.prmalloc.CpuAllocator} is the plain one. The pool that learns is {@code
 * io.prmalloc.pool.TensorPoolAllocator}.
 *
 * <p>Around them: {@link io.prmalloc.AllocatorRegistry} has them by name, {@link
 * io.prmalloc.Prmalloc} ends all that the library began, {@link io.prmalloc.TrackingAllocator}
 * counts what one user takes, {@link io.prmalloc.AllocatorWrapper} and {@link
 * io.prmalloc.SubAllocatorWrapper} are for changing one call, {@link
 * io.prmalloc.AllocationAttributes} say how one request is to be handled and {@link
 * io.prmalloc.AllocatorAttributes} what memory must be fit for; {@link io.prmalloc.Isolation} says
 * how users of one pool are kept apart.
 *
 * <p>Elements are in {@code io.prmalloc.element}; what lies behind these types is in the packages
 * of {@code io.prmalloc.internal}, each of which says in which order to read it.
 *
 * <p>May use: {@code io.prmalloc.internal.block}, {@code .memory} and {@code .os}, {@code
 * io.prmalloc.element}, Agrona.
 *
 * <p>Conventions: sizes are bytes in a {@code long} named {@code …Bytes}; an alignment is a power
 * of two; bad arguments are answered with an exception that names the argument, its value and the
 * bound; a call that fails changes nothing.
 */
package io.prmalloc;
