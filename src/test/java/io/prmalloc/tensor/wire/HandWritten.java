package io.prmalloc.tensor.wire;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.function.Consumer;

/**
 * Writes messages by the rules of protobuf's wire format, with field numbers given by hand,
 * independently of our {@code tensor.proto} and of protobuf's runtime.
 */
final class HandWritten {

  private static final int VARINT = 0;
  private static final int FIXED_64 = 1;
  private static final int LENGTH_DELIMITED = 2;
  private static final int FIXED_32 = 5;

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();

  /** The beginning of a tensor: its type, and the sizes of its dimensions. */
  static HandWritten tensor(int dtype, long... sizes) {
    return new HandWritten().varint(1, dtype).message(2, shape -> dims(shape, sizes));
  }

  static void dims(HandWritten shape, long... sizes) {
    for (long size : sizes) {
      shape.message(2, dim -> dim.varint(1, size));
    }
  }

  private HandWritten tag(int field, int wireType) {
    return raw((field << 3) | wireType);
  }

  /** A number of seven bits a byte, lowest first. */
  HandWritten raw(long value) {
    long rest = value;
    while ((rest & ~0x7FL) != 0) {
      out.write((int) ((rest & 0x7F) | 0x80));
      rest >>>= 7;
    }
    out.write((int) rest);
    return this;
  }

  HandWritten varint(int field, long value) {
    return tag(field, VARINT).raw(value);
  }

  HandWritten fixed32(int field, int bits) {
    tag(field, FIXED_32);
    for (int i = 0; i < 4; i++) {
      out.write(bits >>> (8 * i));
    }
    return this;
  }

  HandWritten fixed64(int field, long bits) {
    tag(field, FIXED_64);
    for (int i = 0; i < 8; i++) {
      out.write((int) (bits >>> (8 * i)));
    }
    return this;
  }

  HandWritten bytes(int field, byte... value) {
    tag(field, LENGTH_DELIMITED).raw(value.length);
    out.writeBytes(value);
    return this;
  }

  HandWritten message(int field, Consumer<HandWritten> content) {
    HandWritten inner = new HandWritten();
    content.accept(inner);
    return bytes(field, inner.toByteArray());
  }

  HandWritten packedVarints(int field, long... values) {
    return message(
        field,
        inner -> {
          for (long value : values) {
            inner.raw(value);
          }
        });
  }

  HandWritten packedFloats(int field, float... values) {
    ByteBuffer packed = ByteBuffer.allocate(4 * values.length).order(ByteOrder.LITTLE_ENDIAN);
    for (float value : values) {
      packed.putFloat(value);
    }
    return bytes(field, packed.array());
  }

  HandWritten packedDoubles(int field, double... values) {
    ByteBuffer packed = ByteBuffer.allocate(8 * values.length).order(ByteOrder.LITTLE_ENDIAN);
    for (double value : values) {
      packed.putDouble(value);
    }
    return bytes(field, packed.array());
  }

  byte[] toByteArray() {
    return out.toByteArray();
  }

  ByteBuffer toBuffer() {
    return ByteBuffer.wrap(toByteArray());
  }
}
