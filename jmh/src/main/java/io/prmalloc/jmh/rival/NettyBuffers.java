package io.prmalloc.jmh.rival;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.prmalloc.trace.replay.lane.NettyAllocators;

/**
 * Direct buffers of one of {@link NettyAllocators}.
 *
 * <p>Threading: as {@link Strategy} says.
 */
final class NettyBuffers extends HandleStrategy<ByteBuf> {

  private final ByteBufAllocator allocator;

  private NettyBuffers(ByteBufAllocator allocator) {
    this.allocator = allocator;
  }

  static NettyBuffers pooled() {
    return new NettyBuffers(NettyAllocators.pooled());
  }

  static NettyBuffers adaptive() {
    return new NettyBuffers(NettyAllocators.adaptive());
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
