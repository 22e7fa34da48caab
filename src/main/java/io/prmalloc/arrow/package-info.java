/**
 * The adapter for Arrow: {@link io.prmalloc.arrow.PrmallocAllocationManager} gives a {@code
 * RootAllocator} its memory from any allocator.
 *
 * <p>May use: {@code io.prmalloc} and {@code arrow-memory-core}, which is optional: nothing else in
 * this project imports Arrow.
 *
 * <p>Conventions: Arrow keeps its own accounts, limits and reference counts. A refused request is
 * an {@code OutOfMemoryException} of Arrow's, which its users expect.
 */
package io.prmalloc.arrow;
