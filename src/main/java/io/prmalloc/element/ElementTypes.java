package io.prmalloc.element;

import io.prmalloc.Allocator;
import io.prmalloc.OutOfNativeMemoryException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;

/**
 * The element types of TensorFlow, with the numbers they have in its {@code DataType}.
 *
 * <p>Unsigned numbers are read and written as the next larger signed type, but {@link #UINT64} as
 * the same 64 bits. Half-precision numbers are read and written as floats, rounded to the nearest.
 *
 * <p>Threading: immutable; elements of all types may be used by any thread.
 */
public final class ElementTypes {

  /** IEEE 754 numbers of 32 bits. */
  public static final ElementType<Float> FLOAT =
      new PrimitiveType<>("FLOAT", 1, Float.class, 4, ByteBuffer::getFloat, ByteBuffer::putFloat);

  /** IEEE 754 numbers of 64 bits. */
  public static final ElementType<Double> DOUBLE =
      new PrimitiveType<>(
          "DOUBLE", 2, Double.class, 8, ByteBuffer::getDouble, ByteBuffer::putDouble);

  /** Signed numbers of 32 bits. */
  public static final ElementType<Integer> INT32 =
      new PrimitiveType<>("INT32", 3, Integer.class, 4, ByteBuffer::getInt, ByteBuffer::putInt);

  /** Numbers from 0 to 255. */
  public static final ElementType<Integer> UINT8 =
      new PrimitiveType<>(
          "UINT8",
          4,
          Integer.class,
          1,
          (memory, offset) -> Byte.toUnsignedInt(memory.get(offset)),
          (memory, offset, value) ->
              memory.put(offset, (byte) PrimitiveType.checkUnsigned("UINT8", value, 0xFF)));

  /** Signed numbers of 16 bits. */
  public static final ElementType<Short> INT16 =
      new PrimitiveType<>("INT16", 5, Short.class, 2, ByteBuffer::getShort, ByteBuffer::putShort);

  /** Signed numbers of 8 bits. */
  public static final ElementType<Byte> INT8 =
      new PrimitiveType<>("INT8", 6, Byte.class, 1, ByteBuffer::get, ByteBuffer::put);

  /**
   * Bytes of any number, off the heap, each element its own: a slot of 16 bytes with address and
   * length. {@link StringElements} reads and writes them as text, and without garbage.
   *
   * <p>Elements are empty at first. Those that are not need raw addresses ({@link
   * Allocator#allocateRaw}); where this JVM cannot tell addresses, writing throws {@link
   * IllegalStateException} with the flag that helps. Writing null throws {@link
   * NullPointerException}, and {@link OutOfNativeMemoryException} if the bytes are not available.
   */
  public static final ElementType<byte[]> STRING = new StringType();

  /** Pairs of floats: real and imaginary part. What is written is rounded to floats. */
  public static final ElementType<Complex> COMPLEX64 =
      new PrimitiveType<>(
          "COMPLEX64",
          8,
          Complex.class,
          8,
          (memory, offset) -> new Complex(memory.getFloat(offset), memory.getFloat(offset + 4)),
          (memory, offset, value) ->
              memory
                  .putFloat(offset, (float) value.real())
                  .putFloat(offset + 4, (float) value.imaginary()));

  /** Signed numbers of 64 bits. */
  public static final ElementType<Long> INT64 =
      new PrimitiveType<>("INT64", 9, Long.class, 8, ByteBuffer::getLong, ByteBuffer::putLong);

  /** A byte each: 0 is false, all else true; 1 is written for true. */
  public static final ElementType<Boolean> BOOL =
      new PrimitiveType<>(
          "BOOL",
          10,
          Boolean.class,
          1,
          (memory, offset) -> memory.get(offset) != 0,
          (memory, offset, value) -> memory.put(offset, (byte) (value ? 1 : 0)));

  /** The upper halves of floats. */
  public static final ElementType<Float> BFLOAT16 =
      new PrimitiveType<>(
          "BFLOAT16",
          14,
          Float.class,
          2,
          (memory, offset) -> HalfFloats.fromBfloat16(memory.getShort(offset)),
          (memory, offset, value) -> memory.putShort(offset, HalfFloats.toBfloat16(value)));

  /** Numbers from 0 to 65535. */
  public static final ElementType<Integer> UINT16 =
      new PrimitiveType<>(
          "UINT16",
          17,
          Integer.class,
          2,
          (memory, offset) -> Short.toUnsignedInt(memory.getShort(offset)),
          (memory, offset, value) ->
              memory.putShort(
                  offset, (short) PrimitiveType.checkUnsigned("UINT16", value, 0xFFFF)));

  /** Pairs of doubles: real and imaginary part. */
  public static final ElementType<Complex> COMPLEX128 =
      new PrimitiveType<>(
          "COMPLEX128",
          18,
          Complex.class,
          16,
          (memory, offset) -> new Complex(memory.getDouble(offset), memory.getDouble(offset + 8)),
          (memory, offset, value) ->
              memory.putDouble(offset, value.real()).putDouble(offset + 8, value.imaginary()));

  /** IEEE 754 numbers of 16 bits. */
  public static final ElementType<Float> HALF =
      new PrimitiveType<>(
          "HALF",
          19,
          Float.class,
          2,
          (memory, offset) -> HalfFloats.fromHalf(memory.getShort(offset)),
          (memory, offset, value) -> memory.putShort(offset, HalfFloats.toHalf(value)));

  /**
   * Any object of the JVM, or null, as elements are at first: a slot of 8 bytes with the object's
   * number in a table that holds on to it until the element ends or gets another value. Reading,
   * writing or ending an element whose slot was overwritten throws {@link IllegalStateException}.
   */
  public static final ElementType<Object> RESOURCE_HANDLE = new ObjectType("RESOURCE_HANDLE", 20);

  /** As {@link #RESOURCE_HANDLE}, with a table of its own. */
  public static final ElementType<Object> VARIANT = new ObjectType("VARIANT", 21);

  /** Numbers from 0 to 2^32 − 1. */
  public static final ElementType<Long> UINT32 =
      new PrimitiveType<>(
          "UINT32",
          22,
          Long.class,
          4,
          (memory, offset) -> Integer.toUnsignedLong(memory.getInt(offset)),
          (memory, offset, value) ->
              memory.putInt(
                  offset, (int) PrimitiveType.checkUnsigned("UINT32", value, 0xFFFF_FFFFL)));

  /** 64 bits, for {@link Long#toUnsignedString(long)} and its kin. */
  public static final ElementType<Long> UINT64 =
      new PrimitiveType<>("UINT64", 23, Long.class, 8, ByteBuffer::getLong, ByteBuffer::putLong);

  private static final List<ElementType<?>> ALL =
      List.of(
          FLOAT,
          DOUBLE,
          INT32,
          UINT8,
          INT16,
          INT8,
          STRING,
          COMPLEX64,
          INT64,
          BOOL,
          BFLOAT16,
          UINT16,
          COMPLEX128,
          HALF,
          RESOURCE_HANDLE,
          VARIANT,
          UINT32,
          UINT64);

  private ElementTypes() {}

  /** All types of this class, by their numbers. Threading: any thread. */
  public static List<ElementType<?>> all() {
    return ALL;
  }

  /**
   * The type with a number of TensorFlow's {@code DataType}, empty if it is none of this class.
   *
   * <p>Threading: any thread.
   */
  public static Optional<ElementType<?>> ofDataType(int number) {
    for (ElementType<?> type : ALL) {
      if (type.dataType().orElseThrow() == number) {
        return Optional.of(type);
      }
    }
    return Optional.empty();
  }
}
