package io.prmalloc.tensor.wire;

import com.google.protobuf.UnsafeByteOperations;
import io.prmalloc.element.ElementTypes;
import io.prmalloc.element.StringElements;
import io.prmalloc.tensor.Tensor;
import io.prmalloc.tensor.wire.proto.TensorProto;
import java.nio.ByteBuffer;

/**
 * Elements that are strings.
 *
 * <p>Threading: stateless.
 */
final class StringCodec extends ElementCodec {

  /** What a string that is not empty costs beside its bytes: the block they lie in, about. */
  private static final int BLOCK_BYTES = 64;

  /** Tag and length of a value. */
  private static final int MOST_VALUE_OVERHEAD = 6;

  StringCodec() {
    super(ElementTypes.STRING);
  }

  @Override
  long givenElements(TensorProto message) {
    return message.getStringValCount();
  }

  @Override
  void checkContent(ByteBuffer content, long elements) {
    LengthList.check(content, elements);
  }

  @Override
  long repeatedBytes(TensorProto message, long given) {
    int length = given == 0 ? 0 : message.getStringVal((int) given - 1).size();
    return type().slotBytes() + (length == 0 ? 0 : (long) BLOCK_BYTES + length);
  }

  @Override
  void readContent(ByteBuffer content, Tensor<?> tensor) {
    StringElements strings = StringElements.of(tensor.elements());
    long count = tensor.elements().count();
    LengthList list = new LengthList(content, count);
    for (long i = 0; i < count; i++) {
      strings.set(i, list.next());
    }
  }

  @Override
  void readValues(TensorProto message, long given, Tensor<?> tensor) {
    if (given == 0) {
      return;
    }
    StringElements strings = StringElements.of(tensor.elements());
    long count = tensor.elements().count();
    for (long i = 0; i < count; i++) {
      int value = (int) Math.min(i, given - 1);
      strings.set(i, message.getStringVal(value).asReadOnlyByteBuffer());
    }
  }

  @Override
  boolean hasContent() {
    return false;
  }

  @Override
  long mostValueBytes(Tensor<?> tensor) {
    StringElements strings = StringElements.of(tensor.elements());
    long bytes = 0;
    for (long i = 0; i < tensor.elements().count(); i++) {
      bytes += strings.lengthBytes(i) + MOST_VALUE_OVERHEAD;
    }
    return bytes;
  }

  @Override
  void writeValues(Tensor<?> tensor, TensorProto.Builder message) {
    StringElements strings = StringElements.of(tensor.elements());
    for (long i = 0; i < tensor.elements().count(); i++) {
      ByteBuffer bytes = ByteBuffer.allocate(strings.lengthBytes(i));
      strings.copyTo(i, bytes);
      message.addStringVal(UnsafeByteOperations.unsafeWrap(bytes.flip()));
    }
  }
}
