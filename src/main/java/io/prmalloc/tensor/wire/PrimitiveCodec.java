package io.prmalloc.tensor.wire;

import io.prmalloc.element.ElementType;
import io.prmalloc.tensor.Tensor;
import io.prmalloc.tensor.wire.proto.TensorProto;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.function.ToIntFunction;

/**
 * Elements that are the bytes of their slots.
 *
 * <p>Threading: stateless.
 */
final class PrimitiveCodec extends ElementCodec {

  /** Puts the value of an element of a message into its slot. */
  @FunctionalInterface
  interface Reader {
    void read(TensorProto message, int element, ByteBuffer memory, int offset);
  }

  /** Adds the value in a slot to a message. */
  @FunctionalInterface
  interface Writer {
    void write(ByteBuffer memory, int offset, TensorProto.Builder message);
  }

  /** Protobuf's longest number: a negative one of 32 bits, too. */
  private static final int LONGEST_VARINT = 10;

  private final String field;
  private final ToIntFunction<TensorProto> valueCount;
  private final int valuesPerElement;
  private final Reader reader;
  private final Writer writer;

  PrimitiveCodec(
      ElementType<?> type,
      String field,
      ToIntFunction<TensorProto> valueCount,
      int valuesPerElement,
      Reader reader,
      Writer writer) {
    super(type);
    this.field = field;
    this.valueCount = valueCount;
    this.valuesPerElement = valuesPerElement;
    this.reader = reader;
    this.writer = writer;
  }

  @Override
  long givenElements(TensorProto message) {
    int values = valueCount.applyAsInt(message);
    if (values % valuesPerElement != 0) {
      throw new TensorFormatException(
          field
              + " has "
              + values
              + " values, and "
              + type().name()
              + " needs "
              + valuesPerElement
              + " for each element");
    }
    return values / valuesPerElement;
  }

  @Override
  void checkContent(ByteBuffer content, long elements) {
    long needed = elements * type().slotBytes();
    if (content.remaining() != needed) {
      throw new TensorFormatException(
          "tensor_content has "
              + content.remaining()
              + " bytes; "
              + elements
              + " elements of "
              + type().name()
              + " have "
              + needed);
    }
  }

  @Override
  long repeatedBytes(TensorProto message, long given) {
    return type().slotBytes();
  }

  @Override
  void readContent(ByteBuffer content, Tensor<?> tensor) {
    ByteBuffer memory = tensor.byteBuffer();
    if (ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN) {
      memory.put(content.duplicate());
    } else {
      swap(content.slice(), memory, unitBytes());
    }
  }

  /** Bytes of one number: an element may have two. */
  int unitBytes() {
    return type().slotBytes() / valuesPerElement;
  }

  /** Copies numbers and turns the bytes of each around. */
  static void swap(ByteBuffer from, ByteBuffer to, int unitBytes) {
    for (int start = 0; start < from.limit(); start += unitBytes) {
      for (int i = 0; i < unitBytes; i++) {
        to.put(start + i, from.get(start + unitBytes - 1 - i));
      }
    }
  }

  @Override
  void readValues(TensorProto message, long given, Tensor<?> tensor) {
    ByteBuffer memory = tensor.byteBuffer();
    int slot = type().slotBytes();
    for (int element = 0; element < given; element++) {
      reader.read(message, element, memory, element * slot);
    }
    repeatLast(memory, (int) given * slot, slot);
  }

  /** Fills a buffer from {@code done} on with copies of the slot before, or with zeros. */
  private static void repeatLast(ByteBuffer memory, int done, int slot) {
    int end = memory.limit();
    if (done == end) {
      return;
    }
    int from = done - slot;
    int at = done;
    if (done == 0) {
      for (int i = 0; i < slot; i++) {
        memory.put(i, (byte) 0);
      }
      from = 0;
      at = slot;
    }
    // What is there already is copied as a whole, so each turn does as much as all before it.
    ByteBuffer source = memory.duplicate();
    while (at < end) {
      int bytes = Math.min(at - from, end - at);
      memory.put(at, source, from, bytes);
      at += bytes;
    }
  }

  @Override
  boolean hasContent() {
    return true;
  }

  @Override
  long mostValueBytes(Tensor<?> tensor) {
    return tensor.elements().count() * valuesPerElement * LONGEST_VARINT;
  }

  @Override
  void writeValues(Tensor<?> tensor, TensorProto.Builder message) {
    ByteBuffer memory = tensor.byteBuffer();
    for (int offset = 0; offset < memory.limit(); offset += type().slotBytes()) {
      writer.write(memory, offset, message);
    }
  }
}
