package io.prmalloc.element;

import io.prmalloc.Allocator;
import java.nio.ByteBuffer;
import java.util.OptionalInt;

/**
 * Any object of the JVM, or none: the slot holds its number in an {@link ObjectTable}.
 *
 * <p>Threading: any thread.
 */
final class ObjectType implements ElementType<Object> {

  private static final long NOTHING = 0;

  private final ObjectTable objects = new ObjectTable();
  private final String name;
  private final int dataType;

  ObjectType(String name, int dataType) {
    this.name = name;
    this.dataType = dataType;
  }

  /** How many objects elements of this type hold, in all memory there is. */
  int liveObjects() {
    return objects.size();
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public Class<Object> valueClass() {
    return Object.class;
  }

  @Override
  public int slotBytes() {
    return Long.BYTES;
  }

  @Override
  public OptionalInt dataType() {
    return OptionalInt.of(dataType);
  }

  @Override
  public boolean isTrivial() {
    return false;
  }

  @Override
  public void construct(Allocator allocator, ByteBuffer memory, int offset) {
    memory.putLong(offset, NOTHING);
  }

  @Override
  public void destroy(Allocator allocator, ByteBuffer memory, int offset) {
    forget(memory.getLong(offset));
    memory.putLong(offset, NOTHING);
  }

  @Override
  public Object read(ByteBuffer memory, int offset) {
    long number = memory.getLong(offset);
    return number == NOTHING ? null : objects.get(number);
  }

  @Override
  public void write(Allocator allocator, ByteBuffer memory, int offset, Object value) {
    // The old one first: if its slot was overwritten nothing has changed yet.
    long old = memory.getLong(offset);
    if (old != NOTHING) {
      objects.get(old);
    }
    memory.putLong(offset, value == null ? NOTHING : objects.put(value));
    forget(old);
  }

  private void forget(long number) {
    if (number != NOTHING) {
      objects.remove(number);
    }
  }

  @Override
  public String toString() {
    return name;
  }
}
