package io.prmalloc.tensor.wire;

import io.prmalloc.element.ElementType;
import io.prmalloc.tensor.Tensor;
import io.prmalloc.tensor.wire.proto.TensorProto;
import java.nio.ByteBuffer;

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
   * Looks at content from position to limit, which stay, and takes no memory.
   *
   * @throws TensorFormatException if it is not that of so many elements
   */
  abstract void checkContent(ByteBuffer content, long elements);

  /**
   * Bytes that one more copy of the last of the given elements takes, or of none if none is given.
   */
  abstract long repeatedBytes(TensorProto message, long given);

  /**
   * Fills a tensor from content that {@link #checkContent} let pass.
   *
   * @throws TensorFormatException if an element is not what it must be
   */
  abstract void readContent(ByteBuffer content, Tensor<?> tensor);

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
