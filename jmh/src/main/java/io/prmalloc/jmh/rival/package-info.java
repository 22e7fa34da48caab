/**
 * What the benchmarks measure side by side: a {@link io.prmalloc.jmh.rival.Rival} names an
 * allocator, its {@link io.prmalloc.jmh.rival.Strategy} takes and gives memory by it, by handles or
 * by addresses, and a {@link io.prmalloc.jmh.rival.Step} is the sequence of requests of a trace.
 *
 * <p>Read in this order: {@code Rival}, {@code Strategy}, {@code HandleStrategy} or {@code
 * AddressStrategy}, then the class of one rival. Each tensor is written to as {@code Writes} says,
 * and each rival runs as {@code WarmUp} says before anything is measured.
 */
package io.prmalloc.jmh.rival;
