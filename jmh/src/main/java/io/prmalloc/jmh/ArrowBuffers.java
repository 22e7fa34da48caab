package io.prmalloc.jmh;

import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.RootAllocator;

/**
 * Buffers of Arrow's {@code RootAllocator}.
 *
 * <p>Threading: as {@link Strategy} says.
 */
final class ArrowBuffers extends HandleStrategy<ArrowBuf> {

  private final RootAllocator allocator = new RootAllocator(Long.MAX_VALUE);

  @Override
  ArrowBuf take(long bytes) {
    return allocator.buffer(bytes);
  }

  @Override
  long touch(ArrowBuf buffer, long value) {
    buffer.setLong(0, value);
    return buffer.getLong(0);
  }

  @Override
  void giveBack(ArrowBuf buffer) {
    buffer.close();
  }

  @Override
  public void close() {
    allocator.close();
  }
}
