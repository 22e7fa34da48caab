/**
 * Benchmarks: our allocators and the rivals side by side, under JMH.
 *
 * <p>{@link io.prmalloc.jmh.PairBenchmark} asks what one allocation costs, {@link
 * io.prmalloc.jmh.StepBenchmark} what an inference step costs, {@link
 * io.prmalloc.jmh.VaryingBenchmark} what steps cost that vary, {@link
 * io.prmalloc.jmh.HandoverBenchmark} what it costs that another thread releases, through the queue
 * {@code Handover}. Who takes part is listed in {@link io.prmalloc.jmh.rival.Rival}; each has a
 * class that implements {@code Strategy}: with handles, a {@code HandleStrategy}, or with
 * addresses, an {@code AddressStrategy}, which fill and drain the queue, and a {@code Lane} for the
 * tensors of a {@code Step}. What is published is measured by {@code Published}, slice by slice,
 * beside what the machine is like meanwhile ({@code Machine}, {@code CacheLine}).
 *
 * <p>May use: the library's public types, and the rivals. Nothing else in the project may use them,
 * or this package.
 *
 * <p>Conventions: one benchmark answers one question and gives its command in its Javadoc; every
 * rival touches the same bytes in the same order; a fork sees one rival only.
 */
package io.prmalloc.jmh;
