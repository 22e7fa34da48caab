package io.prmalloc.jmh;

import io.netty.buffer.AdaptiveByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import io.prmalloc.CpuAllocator;
import io.prmalloc.SubAllocator;

/**
 * Who takes part.
 *
 * <p>Threading: immutable.
 */
public enum Rival {
  /** Our pool through checked handles. */
  POOL_HANDLE {
    @Override
    Strategy open() {
      return new PoolHandles();
    }
  },
  /** Our pool through raw addresses. */
  POOL_RAW {
    @Override
    Strategy open() {
      return new PoolAddresses();
    }
  },
  /** Our allocator that pools nothing: what the pool does with a request that it misses. */
  CPU {
    @Override
    Strategy open() {
      return new UnpooledHandles(new CpuAllocator(SubAllocator.direct()));
    }
  },
  /** {@code ByteBuffer.allocateDirect}, freed at once and not by the collector. */
  ALLOCATE_DIRECT {
    @Override
    Strategy open() {
      return new DirectBuffers();
    }
  },
  /** Netty's {@code PooledByteBufAllocator}, direct buffers, caches for all threads. */
  NETTY_POOLED {
    @Override
    Strategy open() {
      // Caches for all threads: JMH's threads are to have what Netty's event loops have.
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
  },
  /** Netty's {@code AdaptiveByteBufAllocator}, direct buffers, caches for all threads. */
  NETTY_ADAPTIVE {
    @Override
    Strategy open() {
      return new NettyBuffers(new AdaptiveByteBufAllocator(true, true));
    }
  },
  /** Arrow's {@code RootAllocator} on {@code arrow-memory-unsafe}. */
  ARROW {
    @Override
    Strategy open() {
      return new ArrowBuffers();
    }
  },
  /** The C library's {@code malloc} and {@code free}, through the JDK's internal Unsafe. */
  MALLOC {
    @Override
    Strategy open() {
      return new MallocAddresses();
    }
  };

  /** A new allocator of this kind, shared by the threads of a benchmark. */
  abstract Strategy open();
}
