/**
 * Benchmarks: our allocators and the rivals side by side, under JMH.
 *
 * <ul>
 *   <li>{@link io.prmalloc.jmh.PairBenchmark} measures one allocation and its release.
 *   <li>{@link io.prmalloc.jmh.StepBenchmark} measures an inference step, {@link
 *       io.prmalloc.jmh.VaryingBenchmark} steps that vary.
 *   <li>{@link io.prmalloc.jmh.HandoverBenchmark} measures allocations that another thread
 *       releases, through the queue {@code Handover}.
 * </ul>
 *
 * <p>{@link io.prmalloc.jmh.rival.Rival} lists the allocators. Each has a class that implements
 * {@code Strategy}: a {@code HandleStrategy} or an {@code AddressStrategy}, which fill and drain
 * the queue, and a {@code Lane} for the tensors of a {@code Step}. {@code Published} measures the
 * published figures, and the state of the machine beside them ({@code Machine}, {@code CacheLine}).
 *
 * <p>May use: the library's public types, and the rivals. Nothing else in the project may use them,
 * or this package.
 *
 * <p>Conventions: one benchmark answers one question and gives its command in its Javadoc; every
 * rival touches the same bytes in the same order; a fork sees one rival only.
 */
package io.prmalloc.jmh;
