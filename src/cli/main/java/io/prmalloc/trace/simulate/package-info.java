/**
 * What a step would need of memory, on paper: with the reference allocators of the
 * HeuristicAllocator project, and as the best plans have it.
 *
 * <p>A {@link io.prmalloc.trace.simulate.MemoryModel} is an allocator that only counts; {@link
 * io.prmalloc.trace.simulate.ModelKind} lists them. {@link io.prmalloc.trace.simulate.Simulation}
 * runs a step through all of them and shows what came out. Swapping is the business of {@code
 * io.prmalloc.trace.swap}.
 *
 * <p>May use: {@code io.prmalloc.trace}, {@code io.prmalloc.plan} and below it, Jackson's streaming
 * generator.
 *
 * <p>Conventions: those of {@code io.prmalloc.trace}; tensors are numbers from 0.
 */
package io.prmalloc.trace.simulate;
