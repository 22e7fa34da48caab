package io.prmalloc.jmh.server;

import io.netty.buffer.ByteBufAllocator;
import io.prmalloc.netty.PrmallocByteBufAllocator;
import io.prmalloc.pool.TensorPoolAllocator;
import io.prmalloc.trace.replay.lane.NettyAllocators;
import java.util.function.Supplier;

/**
 * Where a server's network buffers come from.
 *
 * <p>Threading: immutable.
 */
@SuppressWarnings("ImmutableEnumChecker") // the suppliers keep nothing
public enum Buffers {
  /** Netty's {@code PooledByteBufAllocator}. */
  POOLED("Netty pooled", NettyAllocators::pooled),
  /** Netty's {@code AdaptiveByteBufAllocator}. */
  ADAPTIVE("Netty adaptive", NettyAllocators::adaptive),
  /** Ours over a pool with the settings that it has by default, without steps. */
  PRMALLOC("prmalloc", () -> new PrmallocByteBufAllocator(TensorPoolAllocator.builder().build()));

  private final String label;
  private final Supplier<ByteBufAllocator> opener;

  Buffers(String label, Supplier<ByteBufAllocator> opener) {
    this.label = label;
    this.opener = opener;
  }

  /** What tables call it. */
  String label() {
    return label;
  }

  /** A new allocator of this kind. */
  ByteBufAllocator open() {
    return opener.get();
  }
}
