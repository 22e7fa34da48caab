package io.prmalloc.netty;

import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.ReferenceCountUtil;
import io.prmalloc.lifetime.ScopedMemoryCollector;
import io.prmalloc.pool.TensorPoolAllocator;
import java.util.function.Function;

/**
 * Opens a step around each message that it passes on: while the handlers behind it work on a
 * request, what they ask the pool for on the event loop belongs to that request.
 *
 * <p>Threading: any thread; one handler serves any number of channels.
 */
@Sharable
final class StepHandler extends ChannelInboundHandlerAdapter {
  // The step ends when the handlers behind return, and not when the answer is written: an event
  // loop serves other connections until then, whose requests would fall into the same step.

  private final TensorPoolAllocator pool;
  private final Function<Object, ?> keyOf;

  private StepHandler(TensorPoolAllocator pool, Function<Object, ?> keyOf) {
    this.pool = pool;
    this.keyOf = keyOf;
  }

  /**
   * Declared with the types that callers use: else the JVM would load Netty's handlers to verify
   * the callers, also where there are none.
   *
   * @param keyOf gives the step's key of a message, or null for a step without one
   */
  static ChannelHandler of(TensorPoolAllocator pool, Function<Object, ?> keyOf) {
    return new StepHandler(pool, keyOf);
  }

  @Override
  @SuppressWarnings("try") // a step is there to be closed
  public void channelRead(ChannelHandlerContext context, Object message) {
    try (ScopedMemoryCollector step = open(message)) {
      context.fireChannelRead(message);
    }
  }

  /** Opens the step of a message. If that throws, the message is released: no handler gets it. */
  private ScopedMemoryCollector open(Object message) {
    try {
      Object key = keyOf.apply(message);
      return key == null ? pool.collect() : pool.collect(key);
    } catch (Throwable e) {
      ReferenceCountUtil.release(message);
      throw e;
    }
  }
}
