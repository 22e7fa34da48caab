package io.prmalloc.jmh.rival;

import io.prmalloc.Allocation;
import io.prmalloc.CpuAllocator;
import java.nio.ByteBuffer;

/**
 * Our allocator that pools nothing, through handles.
 *
 * <p>Threading: as {@link Strategy} says.
 */
final class UnpooledHandles extends HandleStrategy<Allocation> {

  private final CpuAllocator allocator;

  UnpooledHandles(CpuAllocator allocator) {
    this.allocator = allocator;
  }

  @Override
  Allocation take(long bytes) {
    return allocator.allocate(bytes);
  }

  @Override
  long touch(Allocation handle, long value) {
    ByteBuffer buffer = handle.byteBuffer();
    buffer.putLong(0, value);
    return buffer.getLong(0);
  }

  @Override
  long address(Allocation handle) {
    return handle.address();
  }

  @Override
  void giveBack(Allocation handle) {
    handle.close();
  }

  @Override
  public void close() {
    allocator.close();
  }
}
