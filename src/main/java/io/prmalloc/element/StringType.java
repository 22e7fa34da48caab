package io.prmalloc.element;

import io.prmalloc.Allocator;
import io.prmalloc.AllocatorStats;
import io.prmalloc.OutOfNativeMemoryException;
import io.prmalloc.internal.os.NativeBytes;
import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.OptionalInt;

/**
 * Bytes of any number, which the element owns and keeps off the heap.
 *
 * <p>Threading: stateless.
 */
final class StringType implements ElementType<byte[]> {

  // Slot, bytes in native order:
  //
  //    0                 8               16
  //    +-----------------+----------------+
  //    |     address     |     length     |
  //    +-----------------+----------------+
  //
  // No bytes are length 0 at address 0. Otherwise the address is one that the allocator of the
  // typed memory gave as a raw one, and goes back to it when the value is replaced or the element
  // ends. A new value is complete before the slot is touched, so a failure leaves the old one.

  private static final int ADDRESS_OFFSET = 0;
  private static final int LENGTH_OFFSET = 8;
  private static final int SLOT_LENGTH = 16;
  private static final int DATA_TYPE = 7;

  @Override
  public String name() {
    return "STRING";
  }

  @Override
  public Class<byte[]> valueClass() {
    return byte[].class;
  }

  @Override
  public int slotBytes() {
    return SLOT_LENGTH;
  }

  @Override
  public OptionalInt dataType() {
    return OptionalInt.of(DATA_TYPE);
  }

  @Override
  public boolean isTrivial() {
    return false;
  }

  @Override
  public void construct(Allocator allocator, ByteBuffer memory, int offset) {
    putSlot(memory, offset, 0, 0);
  }

  @Override
  public void destroy(Allocator allocator, ByteBuffer memory, int offset) {
    long address = memory.getLong(offset + ADDRESS_OFFSET);
    putSlot(memory, offset, 0, 0);
    allocator.deallocateRaw(address);
  }

  @Override
  public byte[] read(ByteBuffer memory, int offset) {
    byte[] value = new byte[length(memory, offset)];
    copyTo(memory, offset, ByteBuffer.wrap(value));
    return value;
  }

  @Override
  public void write(Allocator allocator, ByteBuffer memory, int offset, byte[] value) {
    write(allocator, memory, offset, ByteBuffer.wrap(value));
  }

  /** Gives the element all that remains in a buffer, whose position stays. */
  void write(Allocator allocator, ByteBuffer memory, int offset, ByteBuffer value) {
    Objects.requireNonNull(value, "value");
    int length = value.remaining();
    long fresh = length == 0 ? 0 : copyOf(allocator, value, length);
    long old = memory.getLong(offset + ADDRESS_OFFSET);
    putSlot(memory, offset, fresh, length);
    allocator.deallocateRaw(old);
  }

  private static long copyOf(Allocator allocator, ByteBuffer value, int length) {
    long address = allocator.allocateRaw(1, length);
    if (address == 0) {
      // A handle is refused with the limit that refused.
      allocator.allocate(length).close();
      address = allocator.allocateRaw(1, length);
    }
    if (address == 0) {
      AllocatorStats stats = allocator.stats();
      throw new OutOfNativeMemoryException(
              length, stats.bytesReserved(), stats.bytesLimit().orElse(-1), null)
          .forUser(length, stats.bytesInUse());
    }
    try {
      NativeBytes.write(address, value);
      return address;
    } catch (Throwable e) {
      allocator.deallocateRaw(address);
      throw e;
    }
  }

  /** How many bytes the element has. */
  int length(ByteBuffer memory, int offset) {
    return (int) memory.getLong(offset + LENGTH_OFFSET);
  }

  /** Puts the element's bytes into a buffer, which has room for them. */
  void copyTo(ByteBuffer memory, int offset, ByteBuffer target) {
    int length = length(memory, offset);
    if (length == 0) {
      return;
    }
    ByteBuffer part = target.slice(target.position(), length);
    NativeBytes.read(memory.getLong(offset + ADDRESS_OFFSET), part);
    target.position(target.position() + length);
  }

  private static void putSlot(ByteBuffer memory, int offset, long address, long length) {
    memory.putLong(offset + ADDRESS_OFFSET, address).putLong(offset + LENGTH_OFFSET, length);
  }

  @Override
  public String toString() {
    return name();
  }
}
