/**
 * Metrics of a pool for Micrometer: {@link io.prmalloc.micrometer.PrmallocMetrics}.
 *
 * <p>May use: {@code io.prmalloc}, {@code io.prmalloc.pool}, {@code io.prmalloc.lifetime}, {@code
 * io.prmalloc.internal.os}, and {@code micrometer-core}, which is optional: nothing else in this
 * project imports Micrometer.
 *
 * <p>Conventions: names begin with {@code prmalloc.}, memory is in bytes, and a figure that only
 * grows is a counter.
 */
package io.prmalloc.micrometer;
