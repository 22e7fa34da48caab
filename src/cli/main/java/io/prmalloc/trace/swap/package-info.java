/**
 * Simulates swapping: how long a training step takes, and how much memory it needs, if feature maps
 * of its forward pass are written to a disk and read back for the backward pass.
 *
 * <p>{@link io.prmalloc.trace.swap.Swapping} simulates a profile with {@link
 * io.prmalloc.trace.swap.SwapOptions} and, where there is a budget, chooses which maps are swapped
 * or computed again; {@link io.prmalloc.trace.swap.SwapReport} shows the result. {@link
 * io.prmalloc.trace.swap.ForwardPass} finds where the backward pass begins.
 *
 * <p>May use: {@code io.prmalloc.trace}, {@code io.prmalloc.trace.simulate}, Jackson's streaming
 * generator.
 *
 * <p>Conventions: times are milliseconds in a {@code double}, from 0 at the start of the step;
 * operators are numbers from 0.
 */
package io.prmalloc.trace.swap;
