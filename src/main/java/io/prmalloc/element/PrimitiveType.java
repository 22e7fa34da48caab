package io.prmalloc.element;

import io.prmalloc.Allocator;
import java.nio.ByteBuffer;
import java.util.OptionalInt;

/**
 * A trivial type: its value is the bytes of its slot.
 *
 * <p>Threading: stateless.
 */
final class PrimitiveType<T> implements ElementType<T> {

  /** Makes a value of a slot's bytes. */
  @FunctionalInterface
  interface Reader<T> {
    T read(ByteBuffer memory, int offset);
  }

  /** Puts a value into a slot's bytes. */
  @FunctionalInterface
  interface Writer<T> {
    void write(ByteBuffer memory, int offset, T value);
  }

  private final String name;
  private final int dataType;
  private final Class<T> valueClass;
  private final int slotBytes;
  private final Reader<T> reader;
  private final Writer<T> writer;

  PrimitiveType(
      String name,
      int dataType,
      Class<T> valueClass,
      int slotBytes,
      Reader<T> reader,
      Writer<T> writer) {
    this.name = name;
    this.dataType = dataType;
    this.valueClass = valueClass;
    this.slotBytes = slotBytes;
    this.reader = reader;
    this.writer = writer;
  }

  /**
   * @throws IllegalArgumentException if the value is not from 0 to {@code greatest}
   */
  static long checkUnsigned(String type, long value, long greatest) {
    if (value < 0 || value > greatest) {
      throw new IllegalArgumentException(
          "value " + value + " of " + type + " is not from 0 to " + greatest);
    }
    return value;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public Class<T> valueClass() {
    return valueClass;
  }

  @Override
  public int slotBytes() {
    return slotBytes;
  }

  @Override
  public OptionalInt dataType() {
    return OptionalInt.of(dataType);
  }

  @Override
  public boolean isTrivial() {
    return true;
  }

  @Override
  public T read(ByteBuffer memory, int offset) {
    return reader.read(memory, offset);
  }

  @Override
  public void write(Allocator allocator, ByteBuffer memory, int offset, T value) {
    writer.write(memory, offset, value);
  }

  @Override
  public String toString() {
    return name;
  }
}
