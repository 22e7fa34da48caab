/**
 * Models of TensorFlow Lite as graphs.
 *
 * <p>{@link io.prmalloc.tflite.TfliteReader} reads from a {@code .tflite} file what concerns
 * memory: tensors with their sizes, operators in execution order, variables and constants, and
 * which subgraphs call which. Of what an operator computes it knows the shapes only ({@code
 * ShapeRules}), to carry a shape that a user sets through the model ({@code ShapeInference}).
 *
 * <p>May use: {@code io.prmalloc.model}, {@code io.prmalloc.plan.arena} and FlatBuffers' runtime,
 * which is used nowhere else.
 *
 * <p>Conventions: every value of a file is checked before it is used. A bad file is refused by a
 * {@link io.prmalloc.model.ModelFormatException} that names the file and the place in it, and by no
 * other exception. Reading needs memory in proportion to the file.
 */
package io.prmalloc.tflite;
