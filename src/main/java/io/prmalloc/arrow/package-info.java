/**
 * Arrow on our memory: {@link io.prmalloc.arrow.PrmallocAllocationManager} gives a {@code
 * RootAllocator} its memory from any allocator.
 *
 * <p>May use: {@code io.prmalloc} and {@code arrow-memory-core}, which is optional: nothing else in
 * this project imports Arrow.
 *
 * <p>Conventions: Arrow keeps its own accounts, limits and reference counts; ours begin where it
 * asks for memory. Refusals are Arrow's {@code OutOfMemoryException}, which its users expect.
 */
package io.prmalloc.arrow;
