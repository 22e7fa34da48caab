package io.prmalloc.tensor.wire;

import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.MessageLite;
import com.google.protobuf.Parser;
import io.prmalloc.element.ElementType;
import io.prmalloc.element.ElementTypes;
import io.prmalloc.element.TypedAllocation;
import io.prmalloc.tensor.Tensor;
import io.prmalloc.tensor.wire.proto.ResourceHandleProto;
import io.prmalloc.tensor.wire.proto.TensorProto;
import io.prmalloc.tensor.wire.proto.VariantTensorDataProto;
import java.nio.ByteBuffer;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.ToIntFunction;

/**
 * Elements that are objects of the JVM: on the wire each is a message of its own. An element
 * without an object is written as an empty message, and read as one.
 *
 * <p>Threading: stateless.
 *
 * @param <M> the message of an element
 */
final class MessageCodec<M extends MessageLite> extends ElementCodec {

  /** What an object costs in the table of objects, about. */
  private static final long ENTRY_BYTES = 16;

  /** Tag and length of a value. */
  private static final int MOST_VALUE_OVERHEAD = 6;

  private final ElementType<Object> type;
  private final M empty;
  private final ToIntFunction<TensorProto> count;
  private final BiFunction<TensorProto, Integer, M> value;
  private final BiConsumer<TensorProto.Builder, M> add;

  private MessageCodec(
      ElementType<Object> type,
      M empty,
      ToIntFunction<TensorProto> count,
      BiFunction<TensorProto, Integer, M> value,
      BiConsumer<TensorProto.Builder, M> add) {
    super(type);
    this.type = type;
    this.empty = empty;
    this.count = count;
    this.value = value;
    this.add = add;
  }

  static ElementCodec ofHandles() {
    return new MessageCodec<>(
        ElementTypes.RESOURCE_HANDLE,
        ResourceHandleProto.getDefaultInstance(),
        TensorProto::getResourceHandleValCount,
        TensorProto::getResourceHandleVal,
        TensorProto.Builder::addResourceHandleVal);
  }

  static ElementCodec ofVariants() {
    return new MessageCodec<>(
        ElementTypes.VARIANT,
        VariantTensorDataProto.getDefaultInstance(),
        TensorProto::getVariantValCount,
        TensorProto::getVariantVal,
        TensorProto.Builder::addVariantVal);
  }

  @Override
  long givenElements(TensorProto message) {
    return count.applyAsInt(message);
  }

  @Override
  void checkContent(ByteBuffer content, long elements) {
    LengthList.check(content, elements);
  }

  @Override
  long repeatedBytes(TensorProto message, long given) {
    return type.slotBytes() + ENTRY_BYTES;
  }

  @Override
  void readContent(ByteBuffer content, Tensor<?> tensor) {
    @SuppressWarnings("unchecked") // That of the empty message is for such messages.
    Parser<M> parser = (Parser<M>) empty.getParserForType();
    TypedAllocation<Object> elements = tensor.as(type).elements();
    LengthList list = new LengthList(content, elements.count());
    for (long i = 0; i < elements.count(); i++) {
      try {
        elements.set(i, parser.parseFrom(list.next()));
      } catch (InvalidProtocolBufferException e) {
        throw new TensorFormatException(
            "element " + i + " in tensor_content is no message: " + e.getMessage(), e);
      }
    }
  }

  @Override
  void readValues(TensorProto message, long given, Tensor<?> tensor) {
    TypedAllocation<Object> elements = tensor.as(type).elements();
    for (long i = 0; i < elements.count(); i++) {
      elements.set(i, given == 0 ? empty : value.apply(message, (int) Math.min(i, given - 1)));
    }
  }

  @Override
  boolean hasContent() {
    return false;
  }

  @Override
  long mostValueBytes(Tensor<?> tensor) {
    TypedAllocation<Object> elements = tensor.as(type).elements();
    long bytes = 0;
    for (long i = 0; i < elements.count(); i++) {
      bytes += messageOf(elements, i).getSerializedSize() + MOST_VALUE_OVERHEAD;
    }
    return bytes;
  }

  @Override
  void writeValues(Tensor<?> tensor, TensorProto.Builder message) {
    TypedAllocation<Object> elements = tensor.as(type).elements();
    for (long i = 0; i < elements.count(); i++) {
      add.accept(message, messageOf(elements, i));
    }
  }

  @SuppressWarnings("unchecked") // Its class is checked.
  private M messageOf(TypedAllocation<Object> elements, long index) {
    Object object = elements.get(index);
    if (object == null) {
      return empty;
    }
    if (object.getClass() != empty.getClass()) {
      throw new IllegalArgumentException(
          "element "
              + index
              + " of "
              + type.name()
              + " is a "
              + object.getClass().getName()
              + ", and on the wire goes a "
              + empty.getClass().getName());
    }
    return (M) object;
  }
}
