package io.prmalloc.jmh;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.util.ResourceLeakDetector;
import io.netty.util.ResourceLeakDetector.Level;

/**
 * Direct buffers of one of Netty's allocators, without the leak detection that Netty samples by
 * default.
 *
 * <p>Threading: as {@link Strategy} says.
 */
final class NettyBuffers extends HandleStrategy<ByteBuf> {

  private final ByteBufAllocator allocator;

  NettyBuffers(ByteBufAllocator allocator) {
    ResourceLeakDetector.setLevel(Level.DISABLED);
    this.allocator = allocator;
  }

  @Override
  ByteBuf take(long bytes) {
    return allocator.directBuffer((int) bytes);
  }

  @Override
  long touch(ByteBuf buffer, long value) {
    buffer.setLongLE(0, value);
    return buffer.getLongLE(0);
  }

  @Override
  void giveBack(ByteBuf buffer) {
    buffer.release();
  }

  @Override
  public void close() {}
}
