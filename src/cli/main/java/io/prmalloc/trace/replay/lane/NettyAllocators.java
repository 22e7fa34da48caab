package io.prmalloc.trace.replay.lane;

import io.netty.buffer.AdaptiveByteBufAllocator;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.util.ResourceLeakDetector;
import io.netty.util.ResourceLeakDetector.Level;

/**
 * Netty's allocators as they are compared with ours: direct buffers, Netty's caches for all
 * threads, as its event loops have them, and no leak detection, which Netty samples by default.
 *
 * <p>Threading: any thread.
 */
public final class NettyAllocators {

  private NettyAllocators() {}

  /**
   * A new {@code PooledByteBufAllocator}. Leak detection ends for the whole process.
   *
   * <p>Threading: any thread.
   */
  public static ByteBufAllocator pooled() {
    ResourceLeakDetector.setLevel(Level.DISABLED);
    return new PooledByteBufAllocator(
        true,
        PooledByteBufAllocator.defaultNumHeapArena(),
        PooledByteBufAllocator.defaultNumDirectArena(),
        PooledByteBufAllocator.defaultPageSize(),
        PooledByteBufAllocator.defaultMaxOrder(),
        PooledByteBufAllocator.defaultSmallCacheSize(),
        PooledByteBufAllocator.defaultNormalCacheSize(),
        true);
  }

  /**
   * A new {@code AdaptiveByteBufAllocator}. Leak detection ends for the whole process.
   *
   * <p>Threading: any thread.
   */
  public static ByteBufAllocator adaptive() {
    ResourceLeakDetector.setLevel(Level.DISABLED);
    return new AdaptiveByteBufAllocator(true, true);
  }
}
