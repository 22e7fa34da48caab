/**
 * The adapter for Netty: {@link io.prmalloc.netty.PrmallocByteBufAllocator} is a {@code
 * ByteBufAllocator} over any allocator.
 *
 * <p>May use: {@code io.prmalloc}, the pool's steps, and {@code netty-buffer} (4.1 or 4.2), which
 * is optional: nothing else in this project imports Netty. Only public types of {@code
 * io.netty.buffer} are used, not those behind {@code PlatformDependent}, so that both lines work.
 * The handler alone uses {@code netty-transport}.
 *
 * <p>Conventions: sizes are an {@code int} number of bytes, as Netty's are. Errors are Netty's
 * ({@code IndexOutOfBoundsException}, {@code IllegalReferenceCountException}).
 */
package io.prmalloc.netty;
