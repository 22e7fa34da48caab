package io.prmalloc.trace.replay.lane;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.prmalloc.trace.replay.ReplayFailure;
import java.util.function.IntFunction;

/**
 * Direct buffers of one of {@link NettyAllocators}.
 *
 * <p>Threading: one thread at a time.
 */
public final class NettyLane extends AddressLane {

  private final ByteBufAllocator allocator;
  private final ByteBuf[] buffers;

  private NettyLane(ByteBufAllocator allocator, int tensors) {
    super(tensors);
    this.allocator = allocator;
    this.buffers = new ByteBuf[tensors];
  }

  /** Lanes into a new {@code PooledByteBufAllocator}. */
  public static IntFunction<Lane> pooled() {
    return lanes(NettyAllocators.pooled());
  }

  /** Lanes into a new {@code AdaptiveByteBufAllocator}. */
  public static IntFunction<Lane> adaptive() {
    return lanes(NettyAllocators.adaptive());
  }

  private static IntFunction<Lane> lanes(ByteBufAllocator allocator) {
    return tensors -> new NettyLane(allocator, tensors);
  }

  @Override
  public long take(int tensor, long bytes) {
    try {
      ByteBuf buffer = allocator.directBuffer((int) bytes);
      buffers[tensor] = buffer;
      return buffer.memoryAddress();
    } catch (OutOfMemoryError limitReached) {
      // Netty's or the JVM's limit for direct memory; the heap is untouched.
      throw new ReplayFailure(limitReached.getMessage(), limitReached);
    }
  }

  @Override
  public void giveBack(int tensor, long address) {
    ByteBuf buffer = buffers[tensor];
    buffers[tensor] = null;
    buffer.release();
  }
}
