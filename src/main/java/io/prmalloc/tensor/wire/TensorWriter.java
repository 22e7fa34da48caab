package io.prmalloc.tensor.wire;

import com.google.protobuf.ByteString;
import io.prmalloc.tensor.Shape;
import io.prmalloc.tensor.Tensor;
import io.prmalloc.tensor.wire.proto.TensorProto;
import io.prmalloc.tensor.wire.proto.TensorShapeProto;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Makes TensorFlow's {@code TensorProto} messages of tensors.
 *
 * <p>Elements of handles and variants must be {@code ResourceHandleProto} and {@code
 * VariantTensorDataProto} of {@code io.prmalloc.tensor.wire.proto}, or null, which is written as an
 * empty one.
 *
 * <p>Threading: any thread; the tensor must not be written to meanwhile.
 */
public final class TensorWriter {

  /** How elements lie in a message. */
  public enum Layout {
    /**
     * As they lie in memory, in {@code tensor_content}: short, fast, and what to choose. Strings,
     * handles and variants, of which only addresses and numbers lie there, are written as {@link
     * #VALUES}.
     */
    CONTENT,
    /** One by one, in the field of values that belongs to the type: for readers that want it so. */
    VALUES
  }

  /** Room for all that is not elements: type, and 254 dimensions. */
  private static final long MOST_FRAME_BYTES = 4096;

  private TensorWriter() {}

  /**
   * A message that is independent of the tensor: its elements are copied, once.
   *
   * <p>Threading: any thread.
   *
   * @throws IllegalArgumentException if the type is none of {@link
   *     io.prmalloc.element.ElementTypes}, an object has no place in a message, or the message
   *     would be over 2 GiB
   * @throws IllegalStateException if the tensor is closed
   */
  public static TensorProto toProto(Tensor<?> tensor, Layout layout) {
    OutgoingMessage message = outgoing(tensor, layout);
    return message.content().hasRemaining()
        ? message.fields().toBuilder()
            .setTensorContent(ByteString.copyFrom(message.content()))
            .build()
        : message.fields();
  }

  /**
   * Writes a message to a stream, with {@link Layout#CONTENT} straight from the tensor's memory.
   *
   * <p>Threading: any thread.
   *
   * @throws IllegalArgumentException see {@link #toProto}; nothing was written then
   * @throws IllegalStateException if the tensor is closed; nothing was written then
   * @throws IOException if the stream throws it
   */
  public static void write(Tensor<?> tensor, Layout layout, OutputStream out) throws IOException {
    outgoing(tensor, layout).writeTo(out);
  }

  /**
   * Writes a message into a buffer at its position, which moves on; with {@link Layout#CONTENT}
   * straight from the tensor's memory.
   *
   * <p>Threading: any thread.
   *
   * @throws IllegalArgumentException see {@link #toProto}, or if the message has no room in the
   *     buffer; nothing was written then
   * @throws IllegalStateException if the tensor is closed; nothing was written then
   */
  public static void write(Tensor<?> tensor, Layout layout, ByteBuffer target) {
    OutgoingMessage message = outgoing(tensor, layout);
    int size = message.sizeBytes();
    if (size > target.remaining()) {
      throw new IllegalArgumentException(
          "message of " + size + " bytes has no room in " + target.remaining());
    }
    message.writeTo(target);
  }

  /**
   * Bytes of the message that {@link #write} writes.
   *
   * <p>Threading: any thread.
   *
   * @throws IllegalArgumentException see {@link #toProto}
   * @throws IllegalStateException if the tensor is closed
   */
  public static int sizeBytes(Tensor<?> tensor, Layout layout) {
    return outgoing(tensor, layout).sizeBytes();
  }

  private static OutgoingMessage outgoing(Tensor<?> tensor, Layout layout) {
    ElementCodec codec = Codecs.of(tensor.type());
    if (codec == null) {
      throw new IllegalArgumentException(
          "type "
              + tensor.type().name()
              + " is none of ElementTypes and has no place in a message");
    }
    boolean content = layout == Layout.CONTENT && codec.hasContent();
    long most = content ? tensor.sizeBytes() : codec.mostValueBytes(tensor);
    if (most > Integer.MAX_VALUE - MOST_FRAME_BYTES) {
      throw new IllegalArgumentException(
          tensor + " may take " + most + " bytes in a message, which holds at most 2 GiB");
    }
    TensorShapeProto.Builder shape = TensorShapeProto.newBuilder();
    Shape sizes = tensor.shape();
    for (int i = 0; i < sizes.rank(); i++) {
      shape.addDim(TensorShapeProto.Dim.newBuilder().setSize(sizes.size(i)));
    }
    TensorProto.Builder message =
        TensorProto.newBuilder()
            .setDtypeValue(tensor.type().dataType().orElseThrow())
            .setTensorShape(shape);
    if (!content) {
      codec.writeValues(tensor, message);
    }
    return new OutgoingMessage(
        message.build(), content ? littleEndian(tensor) : ByteBuffer.allocate(0));
  }

  /** The elements as they lie on the wire: the tensor's own memory where bytes lie the same way. */
  private static ByteBuffer littleEndian(Tensor<?> tensor) {
    ByteBuffer memory = tensor.byteBuffer();
    if (ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN) {
      return memory;
    }
    ByteBuffer turned = ByteBuffer.allocate(memory.limit());
    PrimitiveCodec codec = (PrimitiveCodec) Codecs.of(tensor.type());
    PrimitiveCodec.swap(memory, turned, codec.unitBytes());
    return turned;
  }
}
