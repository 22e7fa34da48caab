/**
 * Traces: the allocations and releases of one step of a program, read from files of several
 * formats.
 *
 * <p>A {@link io.prmalloc.trace.Trace} is one step, in order. {@link io.prmalloc.trace.TraceFormat}
 * tells the formats apart and reads them; add a format there. {@link io.prmalloc.trace.TraceInput}
 * reads what a user names on the command line, the bundled sample included. {@link
 * io.prmalloc.trace.learning.Learning} feeds steps of a trace to the lifetime policies. {@link
 * io.prmalloc.trace.GraphReader} reads whole graphs for the arena planner. {@code
 * io.prmalloc.tflite} reads models of TensorFlow Lite, {@code io.prmalloc.onnx} ONNX models, and
 * {@code io.prmalloc.trace.replay} runs a trace on real allocators.
 *
 * <p>May use: every package of the library, Jackson's streaming parser.
 *
 * <p>Conventions: a reader refuses bad input by a {@link io.prmalloc.trace.TraceFormatException}
 * that names the file and the line or entry, and guesses nothing; sizes are bytes in a {@code
 * long}, sums of them may pass 2^31.
 */
package io.prmalloc.trace;
