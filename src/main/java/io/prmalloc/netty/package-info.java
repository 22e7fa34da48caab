/**
 * Netty on our memory: {@link io.prmalloc.netty.PrmallocByteBufAllocator} is a {@code
 * ByteBufAllocator} over any allocator.
 *
 * <p>May use: {@code io.prmalloc} and {@code netty-buffer} (4.1 or 4.2), which is optional: nothing
 * else in this project imports Netty. Only public types of {@code io.netty.buffer} are used, not
 * those behind {@code PlatformDependent}, so that both lines work.
 *
 * <p>Conventions: counted as Netty counts (an {@code int} number of bytes), refused as Netty
 * refuses ({@code IndexOutOfBoundsException}, {@code IllegalReferenceCountException}).
 */
package io.prmalloc.netty;
