/**
 * Evaluates the benchmarks' results: {@link io.prmalloc.jmh.report.Floors} compares them with what
 * the project promises, {@link io.prmalloc.jmh.report.Report} makes the tables and charts of the
 * results page.
 *
 * <p>May use: Jackson, and of the benchmarks the names of the rivals. Measures nothing itself.
 *
 * <p>Conventions: a figure is looked up in {@code Measurements}. It is the median over the forks of
 * each fork's median, and may be absent. Times are in nanoseconds here, whatever unit the benchmark
 * reports.
 */
package io.prmalloc.jmh.report;
