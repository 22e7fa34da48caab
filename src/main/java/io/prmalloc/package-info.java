/**
 * The main API: allocators, the handles that they give out, and where they get their memory.
 *
 * <p>{@link io.prmalloc.Allocator} gives memory as checked handles ({@link io.prmalloc.Allocation})
 * or as raw addresses; {@link io.prmalloc.SubAllocator} is where allocators get their memory.
 * {@link io.prmalloc.CpuAllocator} takes each request from the system; {@code
 * io.prmalloc.pool.TensorPoolAllocator} is the pool that learns.
 *
 * <ul>
 *   <li>{@link io.prmalloc.AllocatorRegistry} finds allocators by name.
 *   <li>{@link io.prmalloc.TrackingAllocator} counts what one user takes.
 *   <li>{@link io.prmalloc.AllocatorWrapper} and {@link io.prmalloc.SubAllocatorWrapper} are
 *       extended to change one call.
 *   <li>{@link io.prmalloc.AllocationAttributes} say how one request is to be handled, {@link
 *       io.prmalloc.AllocatorAttributes} what memory must be fit for.
 *   <li>{@link io.prmalloc.Isolation} says how users of one pool are kept apart.
 *   <li>{@link io.prmalloc.Prmalloc} ends all threads, hooks and native references of the library.
 * </ul>
 *
 * <p>Typed elements are in {@code io.prmalloc.element}. The implementation is in the packages of
 * {@code io.prmalloc.internal}; each says in which order to read it.
 *
 * <p>Glossary: that of {@code io.prmalloc.pool}.
 *
 * <p>May use: {@code io.prmalloc.internal.block}, {@code .memory} and {@code .os}, {@code
 * io.prmalloc.element}, Agrona.
 *
 * <p>Conventions: sizes are bytes in a {@code long} named {@code …Bytes}; an alignment is a power
 * of two; a bad argument is refused by an exception that names the argument, its value and the
 * bound; a call that fails changes nothing.
 */
package io.prmalloc;
