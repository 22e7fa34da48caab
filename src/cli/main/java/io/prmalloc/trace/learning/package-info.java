/**
 * What the lifetime policies of the reference make of equal steps of a trace, on paper: {@link
 * io.prmalloc.trace.learning.Learning}, and {@link io.prmalloc.trace.learning.LearningReport} shows
 * it.
 *
 * <p>May use: {@code io.prmalloc.trace}, {@code io.prmalloc.lifetime}, Jackson's streaming
 * generator.
 *
 * <p>Conventions: those of {@code io.prmalloc.trace}.
 */
package io.prmalloc.trace.learning;
