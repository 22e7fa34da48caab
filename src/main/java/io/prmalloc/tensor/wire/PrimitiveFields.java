package io.prmalloc.tensor.wire;

import io.prmalloc.element.ElementType;
import io.prmalloc.element.ElementTypes;
import io.prmalloc.tensor.wire.proto.TensorProto;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.ToIntFunction;

/**
 * Which field of a message the values of which type are in, and as what.
 *
 * <p>Threading: stateless.
 */
final class PrimitiveFields {

  /** Puts a number of 32 bits into a slot that has fewer. */
  @FunctionalInterface
  private interface Narrow {
    void put(ByteBuffer memory, int offset, int value);
  }

  /** The number in a slot. */
  @FunctionalInterface
  private interface Wide {
    int get(ByteBuffer memory, int offset);
  }

  private PrimitiveFields() {}

  static List<ElementCodec> codecs() {
    return List.of(
        one(
            ElementTypes.FLOAT,
            "float_val",
            TensorProto::getFloatValCount,
            (message, i, memory, offset) -> memory.putFloat(offset, message.getFloatVal(i)),
            (memory, offset, message) -> message.addFloatVal(memory.getFloat(offset))),
        one(
            ElementTypes.DOUBLE,
            "double_val",
            TensorProto::getDoubleValCount,
            (message, i, memory, offset) -> memory.putDouble(offset, message.getDoubleVal(i)),
            (memory, offset, message) -> message.addDoubleVal(memory.getDouble(offset))),
        one(
            ElementTypes.INT64,
            "int64_val",
            TensorProto::getInt64ValCount,
            (message, i, memory, offset) -> memory.putLong(offset, message.getInt64Val(i)),
            (memory, offset, message) -> message.addInt64Val(memory.getLong(offset))),
        one(
            ElementTypes.UINT64,
            "uint64_val",
            TensorProto::getUint64ValCount,
            (message, i, memory, offset) -> memory.putLong(offset, message.getUint64Val(i)),
            (memory, offset, message) -> message.addUint64Val(memory.getLong(offset))),
        one(
            ElementTypes.UINT32,
            "uint32_val",
            TensorProto::getUint32ValCount,
            (message, i, memory, offset) -> memory.putInt(offset, message.getUint32Val(i)),
            (memory, offset, message) -> message.addUint32Val(memory.getInt(offset))),
        one(
            ElementTypes.BOOL,
            "bool_val",
            TensorProto::getBoolValCount,
            (message, i, memory, offset) ->
                memory.put(offset, (byte) (message.getBoolVal(i) ? 1 : 0)),
            (memory, offset, message) -> message.addBoolVal(memory.get(offset) != 0)),
        complex64(),
        complex128(),
        ints(
            ElementTypes.INT32,
            Integer.MIN_VALUE,
            Integer.MAX_VALUE,
            ByteBuffer::putInt,
            ByteBuffer::getInt),
        ints(
            ElementTypes.INT16,
            Short.MIN_VALUE,
            Short.MAX_VALUE,
            (memory, offset, value) -> memory.putShort(offset, (short) value),
            ByteBuffer::getShort),
        ints(
            ElementTypes.UINT16,
            0,
            0xFFFF,
            (memory, offset, value) -> memory.putShort(offset, (short) value),
            (memory, offset) -> Short.toUnsignedInt(memory.getShort(offset))),
        ints(
            ElementTypes.INT8,
            Byte.MIN_VALUE,
            Byte.MAX_VALUE,
            (memory, offset, value) -> memory.put(offset, (byte) value),
            ByteBuffer::get),
        ints(
            ElementTypes.UINT8,
            0,
            0xFF,
            (memory, offset, value) -> memory.put(offset, (byte) value),
            (memory, offset) -> Byte.toUnsignedInt(memory.get(offset))),
        halves(ElementTypes.HALF),
        halves(ElementTypes.BFLOAT16));
  }

  private static PrimitiveCodec one(
      ElementType<?> type,
      String field,
      ToIntFunction<TensorProto> count,
      PrimitiveCodec.Reader reader,
      PrimitiveCodec.Writer writer) {
    return new PrimitiveCodec(type, field, count, 1, reader, writer);
  }

  private static PrimitiveCodec complex64() {
    return new PrimitiveCodec(
        ElementTypes.COMPLEX64,
        "scomplex_val",
        TensorProto::getScomplexValCount,
        2,
        (message, i, memory, offset) ->
            memory
                .putFloat(offset, message.getScomplexVal(2 * i))
                .putFloat(offset + 4, message.getScomplexVal(2 * i + 1)),
        (memory, offset, message) ->
            message
                .addScomplexVal(memory.getFloat(offset))
                .addScomplexVal(memory.getFloat(offset + 4)));
  }

  private static PrimitiveCodec complex128() {
    return new PrimitiveCodec(
        ElementTypes.COMPLEX128,
        "dcomplex_val",
        TensorProto::getDcomplexValCount,
        2,
        (message, i, memory, offset) ->
            memory
                .putDouble(offset, message.getDcomplexVal(2 * i))
                .putDouble(offset + 8, message.getDcomplexVal(2 * i + 1)),
        (memory, offset, message) ->
            message
                .addDcomplexVal(memory.getDouble(offset))
                .addDcomplexVal(memory.getDouble(offset + 8)));
  }

  private static PrimitiveCodec ints(
      ElementType<?> type, int least, int greatest, Narrow put, Wide get) {
    return one(
        type,
        "int_val",
        TensorProto::getIntValCount,
        (message, i, memory, offset) ->
            put.put(
                memory, offset, check("int_val", i, message.getIntVal(i), least, greatest, type)),
        (memory, offset, message) -> message.addIntVal(get.get(memory, offset)));
  }

  /** Their 16 bits as a number, which some writers take for a signed one. */
  private static PrimitiveCodec halves(ElementType<?> type) {
    return one(
        type,
        "half_val",
        TensorProto::getHalfValCount,
        (message, i, memory, offset) ->
            memory.putShort(
                offset,
                (short) check("half_val", i, message.getHalfVal(i), Short.MIN_VALUE, 0xFFFF, type)),
        (memory, offset, message) ->
            message.addHalfVal(Short.toUnsignedInt(memory.getShort(offset))));
  }

  private static int check(
      String field, int index, int value, int least, int greatest, ElementType<?> type) {
    if (value < least || value > greatest) {
      throw new TensorFormatException(
          field
              + " "
              + value
              + " at "
              + index
              + " is not from "
              + least
              + " to "
              + greatest
              + ", as "
              + type.name()
              + " must be");
    }
    return value;
  }
}
