package io.prmalloc.tensor.wire;

import com.google.protobuf.ByteString;
import com.google.protobuf.CodedInputStream;
import com.google.protobuf.UnsafeByteOperations;
import io.prmalloc.Allocator;
import io.prmalloc.element.ElementType;
import io.prmalloc.element.ElementTypes;
import io.prmalloc.tensor.Shape;
import io.prmalloc.tensor.Tensor;
import io.prmalloc.tensor.wire.proto.TensorProto;
import io.prmalloc.tensor.wire.proto.TensorShapeProto;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Optional;

/**
 * Makes tensors of TensorFlow's {@code TensorProto} messages, straight into memory of an allocator.
 *
 * <p>As in TensorFlow's {@code Tensor::FromProto}, elements come from {@code tensor_content} if it
 * is not empty, else from the field of values that belongs to the type; where that has fewer values
 * than there are elements the last one is repeated, and if it has none all elements are zero (empty
 * for strings, an empty message for handles and variants). Unlike there, values that are too many,
 * or too large for their type, are refused.
 *
 * <p>Threading: any thread.
 */
public final class TensorReader {

  // A message is believed nothing. What it brings bounds what is taken for it:
  //
  //   content        must be just as long as the elements that the shape claims
  //   values         are at most as many as the elements
  //   repeated ones  are what a message can claim without bringing anything, so they have a limit
  //
  // and all of it is held against the shape before the allocator is asked. Parsing itself takes
  // heap in proportion to the message.
  //
  // Content is copied once: parsed, it is a view of the message, and goes from there to the tensor,
  // also where the message is no Java array (see ContentSplit). Handles and variants outlive the
  // call, so if there are any the message is parsed again without views.

  /** The most bytes of repeated elements in a tensor unless it is said otherwise: 64 MiB. */
  public static final long DEFAULT_MAX_REPEATED_BYTES = 64L << 20;

  private final Allocator allocator;
  private final long maxRepeatedBytes;

  /**
   * With {@link #DEFAULT_MAX_REPEATED_BYTES}.
   *
   * <p>Threading: any thread.
   *
   * @param allocator where tensors' memory comes from and goes back
   */
  public TensorReader(Allocator allocator) {
    this(allocator, DEFAULT_MAX_REPEATED_BYTES);
  }

  /**
   * Threading: any thread.
   *
   * @param allocator where tensors' memory comes from and goes back
   * @param maxRepeatedBytes the most bytes of one tensor's elements that its message does not
   *     bring, because they repeat the last value or are zero; 0 allows none of them. Of strings it
   *     counts the bytes they own too, and 64 for each that is not empty
   * @throws IllegalArgumentException if {@code maxRepeatedBytes} is negative
   */
  public TensorReader(Allocator allocator, long maxRepeatedBytes) {
    if (maxRepeatedBytes < 0) {
      throw new IllegalArgumentException(
          "maxRepeatedBytes " + maxRepeatedBytes + " is negative; the least is 0");
    }
    this.allocator = allocator;
    this.maxRepeatedBytes = maxRepeatedBytes;
  }

  /**
   * Reads a tensor from the bytes of a message.
   *
   * <p>Threading: any thread; the bytes must not be written to meanwhile.
   *
   * @param message from position to limit, which stay
   * @return a tensor, to be closed; nothing of it refers to {@code message}
   * @throws TensorFormatException if the message is broken or refused; no memory is kept then
   * @throws io.prmalloc.OutOfNativeMemoryException if the memory is not available
   * @throws IllegalStateException if the allocator is closed, or there are strings and this JVM
   *     cannot tell addresses (the message then holds the flag that helps)
   */
  public Tensor<?> read(ByteBuffer message) {
    return readBytes(message, null);
  }

  /**
   * As {@link #read(ByteBuffer)}, and refuses elements of another type before it takes memory.
   *
   * <p>Threading: as {@link #read(ByteBuffer)}.
   *
   * @param message from position to limit, which stay
   * @param expected one of {@link ElementTypes}
   * @return a tensor, to be closed
   * @throws TensorFormatException if the message is broken or refused, or of another type
   * @throws io.prmalloc.OutOfNativeMemoryException if the memory is not available
   * @throws IllegalStateException see {@link #read(ByteBuffer)}
   */
  public <T> Tensor<T> read(ByteBuffer message, ElementType<T> expected) {
    return readBytes(message, expected).as(expected);
  }

  /**
   * Makes a tensor of a message that was parsed before, for instance within a larger one.
   *
   * <p>Threading: any thread.
   *
   * @return a tensor, to be closed; handles and variants are the message's own
   * @throws TensorFormatException if the message is refused; no memory is kept then
   * @throws io.prmalloc.OutOfNativeMemoryException if the memory is not available
   * @throws IllegalStateException see {@link #read(ByteBuffer)}
   */
  public Tensor<?> read(TensorProto message) {
    return read(message, message.getTensorContent().asReadOnlyByteBuffer(), null);
  }

  private Tensor<?> readBytes(ByteBuffer message, ElementType<?> expected) {
    if (!message.hasArray()) {
      Optional<ContentSplit> split = ContentSplit.of(message);
      if (split.isPresent()) {
        return read(parse(split.get().rest()), split.get().content(), expected);
      }
    }
    TensorProto whole = parse(UnsafeByteOperations.unsafeWrap(message));
    return read(whole, whole.getTensorContent().asReadOnlyByteBuffer(), expected);
  }

  private static TensorProto parse(ByteString bytes) {
    try {
      TensorProto views = parse(bytes, true);
      boolean holdsMessages =
          views.getResourceHandleValCount() > 0 || views.getVariantValCount() > 0;
      return holdsMessages ? parse(bytes, false) : views;
    } catch (IOException broken) {
      throw new TensorFormatException("no TensorProto: " + broken.getMessage(), broken);
    }
  }

  private static TensorProto parse(ByteString bytes, boolean asViews) throws IOException {
    CodedInputStream input = bytes.newCodedInput();
    input.enableAliasing(asViews);
    return TensorProto.parseFrom(input);
  }

  private Tensor<?> read(TensorProto message, ByteBuffer content, ElementType<?> expected) {
    ElementType<?> type = typeOf(message);
    if (expected != null && expected != type) {
      throw new TensorFormatException(
          "dtype " + message.getDtypeValue() + " is " + type.name() + ", not " + expected.name());
    }
    Shape shape = shapeOf(message.getTensorShape());
    long elements = shape.elementCount();
    if (elements > Integer.MAX_VALUE / type.slotBytes()) {
      throw new TensorFormatException(
          "tensor_shape "
              + shape
              + " has "
              + elements
              + " elements; of "
              + type.name()
              + " at most "
              + Integer.MAX_VALUE / type.slotBytes()
              + " fit one tensor");
    }
    ElementCodec codec = Codecs.of(type);
    if (content.hasRemaining()) {
      codec.checkContent(content, elements);
    } else {
      checkValues(codec, message, shape);
    }
    Tensor<?> tensor = Tensor.allocate(allocator, type, shape);
    try {
      if (content.hasRemaining()) {
        codec.readContent(content, tensor);
      } else {
        codec.readValues(message, codec.givenElements(message), tensor);
      }
      return tensor;
    } catch (Throwable e) {
      tensor.close();
      throw e;
    }
  }

  private static ElementType<?> typeOf(TensorProto message) {
    return ElementTypes.ofDataType(message.getDtypeValue())
        .orElseThrow(
            () ->
                new TensorFormatException(
                    "dtype "
                        + message.getDtypeValue()
                        + " is no type that tensors are read of here"));
  }

  private static Shape shapeOf(TensorShapeProto message) {
    if (message.getUnknownRank()) {
      throw new TensorFormatException("tensor_shape has an unknown rank");
    }
    int rank = message.getDimCount();
    if (rank > Shape.MAX_RANK) {
      throw new TensorFormatException(
          "tensor_shape has " + rank + " dimensions; the most is " + Shape.MAX_RANK);
    }
    long[] sizes = new long[rank];
    for (int i = 0; i < rank; i++) {
      sizes[i] = message.getDim(i).getSize();
    }
    try {
      return Shape.of(sizes);
    } catch (IllegalArgumentException refused) {
      throw new TensorFormatException("tensor_shape: " + refused.getMessage(), refused);
    }
  }

  private void checkValues(ElementCodec codec, TensorProto message, Shape shape) {
    long elements = shape.elementCount();
    long given = codec.givenElements(message);
    if (given > elements) {
      throw new TensorFormatException(
          "message has "
              + given
              + " values of "
              + codec.type().name()
              + "; tensor_shape "
              + shape
              + " has "
              + elements
              + " elements");
    }
    // Both factors are under 2^32.
    long repeatedBytes =
        given == elements ? 0 : (elements - given) * codec.repeatedBytes(message, given);
    if (repeatedBytes > maxRepeatedBytes) {
      throw new TensorFormatException(
          "tensor_shape "
              + shape
              + " of "
              + codec.type().name()
              + " repeats "
              + repeatedBytes
              + " bytes that the message does not bring; the most is "
              + maxRepeatedBytes);
    }
  }
}
