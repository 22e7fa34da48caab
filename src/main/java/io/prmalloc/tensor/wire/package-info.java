/**
 * Reads and writes tensors as TensorFlow's {@code TensorProto} messages.
 *
 * <p>{@link io.prmalloc.tensor.wire.TensorReader} makes tensors of messages, {@link
 * io.prmalloc.tensor.wire.TensorWriter} makes messages of tensors. One package-private codec for
 * each kind of element knows how its values lie in a message. The message classes themselves are
 * made from {@code tensor.proto} and lie in {@code io.prmalloc.tensor.wire.proto}.
 *
 * <p>May use: {@code io.prmalloc.tensor}, {@code io.prmalloc}, protobuf's Java runtime, which is an
 * optional dependency that no other package needs.
 *
 * <p>Conventions: messages are untrusted. The sizes that a message states are checked against its
 * content before memory is taken. A message that does not fit is refused by a {@link
 * io.prmalloc.tensor.wire.TensorFormatException}; a failure leaves no memory allocated.
 */
package io.prmalloc.tensor.wire;
