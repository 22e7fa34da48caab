package io.prmalloc.tensor.wire;

import com.google.protobuf.ByteString;
import io.prmalloc.ElementType;
import io.prmalloc.tensor.Tensor;
import io.prmalloc.tensor.wire.proto.TensorProto;

/**
 * How the elements of one type lie in a message.
 *
 * <p>Threading: stateless.
 */
abstract class ElementCodec {

  private final ElementType<?> type;

  ElementCodec(ElementType<?> type) {
    this.type = type;
  }

  final ElementType<?> type() {
    return type;
  }

  /**
   * How many elements a message has values for, in the field of this type.
   *
   * @throws TensorFormatException if the last one is there in part only
   */
  abstract long givenElements(TensorProto message);

  /**
   * @throws TensorFormatException if the content is not that of so many elements
   */
  abstract void checkContent(ByteString content, long elements);

  /**
   * Bytes that one more copy of the last of the given elements takes, or of none if none is given.
   */
  abstract long repeatedBytes(TensorProto message, long given);

  /**
   * Fills a tensor from content that {@link #checkContent} let pass.
   *
   * @throws TensorFormatException if an element is not what it must be
   */
  abstract void readContent(ByteString content, Tensor<?> tensor);

  /**
   * Fills a tensor from values: the given ones, then copies of the last, and zeros, or nothing, if
   * none is given.
   *
   * @param given at most as many as the tensor has
   * @throws TensorFormatException if a value does not fit its element
   */
  abstract void readValues(TensorProto message, long given, Tensor<?> tensor);

  /** Whether elements can be written as they lie. */
  abstract boolean hasContent();

  /** The most bytes that the elements take in a message as values. */
  abstract long mostValueBytes(Tensor<?> tensor);

  /** Adds all elements to a message as values. */
  abstract void writeValues(Tensor<?> tensor, TensorProto.Builder message);
}
