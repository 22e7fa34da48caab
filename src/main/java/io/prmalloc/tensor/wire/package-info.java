/**
 * Tensors as TensorFlow's {@code TensorProto}, both ways.
 *
 * <p>{@link io.prmalloc.tensor.wire.TensorReader} makes tensors of messages, {@link
 * io.prmalloc.tensor.wire.TensorWriter} makes messages of tensors. One package-private codec for
 * each kind of element knows how its values lie in a message. The message classes themselves are
 * made from {@code tensor.proto} and lie in {@code io.prmalloc.tensor.wire.proto}.
 *
 * <p>May use: {@code io.prmalloc.tensor}, {@code io.prmalloc}, protobuf's Java runtime, which is an
 * optional dependency that nobody else needs.
 *
 * <p>Conventions: messages come from strangers. Whatever one claims is held against what it brings
 * before memory is taken, and what does not fit is answered by a {@link
 * io.prmalloc.tensor.wire.TensorFormatException}; a failure leaves no memory behind.
 */
package io.prmalloc.tensor.wire;
