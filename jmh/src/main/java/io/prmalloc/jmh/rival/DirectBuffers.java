package io.prmalloc.jmh.rival;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.agrona.BufferUtil;

/**
 * {@code ByteBuffer.allocateDirect}, freed at once. Left to the collector the memory would come
 * back when the heap is full, and the benchmark would measure that.
 *
 * <p>Threading: as {@link Strategy} says.
 */
final class DirectBuffers extends HandleStrategy<ByteBuffer> {

  @Override
  ByteBuffer take(long bytes) {
    return ByteBuffer.allocateDirect((int) bytes).order(ByteOrder.nativeOrder());
  }

  @Override
  long touch(ByteBuffer buffer, long value) {
    buffer.putLong(0, value);
    return buffer.getLong(0);
  }

  @Override
  long address(ByteBuffer buffer) {
    return BufferUtil.address(buffer);
  }

  @Override
  void giveBack(ByteBuffer buffer) {
    BufferUtil.free(buffer);
  }

  @Override
  public void close() {}
}
