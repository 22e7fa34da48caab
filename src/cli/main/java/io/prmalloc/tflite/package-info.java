/**
 * Models of TensorFlow Lite as graphs.
 *
 * <p>{@link io.prmalloc.tflite.TfliteReader} reads a {@code .tflite} file, as far as memory goes:
 * tensors with their sizes, operators in execution order, variables and constants. What an operator
 * computes is not looked at.
 *
 * <p>May use: {@code io.prmalloc.plan.arena} and FlatBuffers' runtime, which is used nowhere else.
 *
 * <p>Conventions: nothing in a file is believed before it was checked; a file that is wrong is
 * answered with a {@link io.prmalloc.tflite.TfliteFormatException} that names the file and the
 * place in it, and with no other exception; reading needs memory in proportion to the file.
 */
package io.prmalloc.tflite;
