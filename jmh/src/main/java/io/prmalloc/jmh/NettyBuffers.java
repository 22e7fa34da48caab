package io.prmalloc.jmh;

import io.netty.buffer.AdaptiveByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
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

  private NettyBuffers(ByteBufAllocator allocator) {
    ResourceLeakDetector.setLevel(Level.DISABLED);
    this.allocator = allocator;
  }

  // Caches for all threads: JMH's threads are to have what Netty's event loops have.

  static NettyBuffers pooled() {
    return new NettyBuffers(
        new PooledByteBufAllocator(
            true,
            PooledByteBufAllocator.defaultNumHeapArena(),
            PooledByteBufAllocator.defaultNumDirectArena(),
            PooledByteBufAllocator.defaultPageSize(),
            PooledByteBufAllocator.defaultMaxOrder(),
            PooledByteBufAllocator.defaultSmallCacheSize(),
            PooledByteBufAllocator.defaultNormalCacheSize(),
            true));
  }

  static NettyBuffers adaptive() {
    return new NettyBuffers(new AdaptiveByteBufAllocator(true, true));
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
  long address(ByteBuf buffer) {
    return buffer.memoryAddress();
  }

  @Override
  void giveBack(ByteBuf buffer) {
    buffer.release();
  }

  @Override
  public void close() {}
}
