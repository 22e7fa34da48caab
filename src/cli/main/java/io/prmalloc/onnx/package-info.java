/**
 * ONNX models as graphs.
 *
 * <p>{@link io.prmalloc.onnx.OnnxReader} reads an {@code .onnx} file, as far as memory goes: values
 * with their sizes, operators in execution order, and constants, whose data is passed over. {@code
 * OnnxParser} reads the messages, {@code GraphBuilder} walks through the operators, {@code
 * ShapeRules} has what each makes of shapes, and {@code ContentRules} what it makes of the few
 * numbers that shapes are computed from.
 *
 * <p>May use: {@code io.prmalloc.plan.arena} and protobuf's runtime, which no other package of the
 * command line uses.
 *
 * <p>Conventions: nothing in a file is believed before it was checked; a file that is wrong is
 * answered with an {@link io.prmalloc.model.ModelFormatException} that names the file and the place
 * in it; reading needs memory in proportion to the file without its weights.
 */
package io.prmalloc.onnx;
