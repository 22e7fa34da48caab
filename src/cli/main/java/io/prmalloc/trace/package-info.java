/**
 * Traces: what a program allocates and releases in one step, read from files of several formats.
 *
 * <p>A {@link io.prmalloc.trace.Trace} is one step, in order. {@link io.prmalloc.trace.TraceFormat}
 * tells the formats apart and reads them; {@link io.prmalloc.trace.TraceInput} is the same for what
 * a user types, the bundled sample included. {@link io.prmalloc.trace.Learning} feeds steps of a
 * trace to the lifetime policies. {@link io.prmalloc.trace.GraphReader} reads whole graphs for the
 * arena planner; models of TensorFlow Lite are the business of {@code io.prmalloc.tflite}. Running
 * a trace for real is the business of {@code io.prmalloc.trace.replay}.
 *
 * <p>May use: every package of the library, Jackson's streaming parser.
 *
 * <p>Conventions: a reader answers bad input with a {@link io.prmalloc.trace.TraceFormatException}
 * that names the file and the line or entry, and nothing is guessed; sizes are bytes in a {@code
 * long}, sums of them may pass 2^31.
 */
package io.prmalloc.trace;
