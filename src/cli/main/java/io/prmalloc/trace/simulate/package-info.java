/**
 * Simulates how much memory a step needs: with models of the HeuristicAllocator project's reference
 * allocators, and with the best plans.
 *
 * <p>A {@link io.prmalloc.trace.simulate.MemoryModel} is an allocator that only counts; {@link
 * io.prmalloc.trace.simulate.ModelKind} lists them. {@link io.prmalloc.trace.simulate.Simulation}
 * runs a step through all of them and shows the results. {@code io.prmalloc.trace.swap} simulates
 * swapping.
 *
 * <p>May use: {@code io.prmalloc.trace}, {@code io.prmalloc.plan} and below it, Jackson's streaming
 * generator.
 *
 * <p>Conventions: those of {@code io.prmalloc.trace}; tensors are numbers from 0.
 */
package io.prmalloc.trace.simulate;
