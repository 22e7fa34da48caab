package io.prmalloc.example;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.concurrent.ScheduledFuture;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * The deadline of the part of a request that a connection waits for. When it passes, the {@link
 * Part} goes through the pipeline as an event.
 *
 * <p>The first handler of a pipeline: it has to see a request's first byte. Netty's own handlers of
 * read timeouts start again with every byte, so one byte a minute holds a connection for ever.
 *
 * <p>Threading: the connection's event loop.
 */
final class RequestTimeout extends ChannelInboundHandlerAdapter {

  /** What is awaited. */
  enum Part {
    /** The first byte of a request. */
    IDLE,
    /** The rest of its head. */
    HEAD,
    /** Its body. */
    BODY,
    /** Nothing of the client's: an answer is under way. */
    ANSWER
  }

  private final ServerTimeouts timeouts;
  private ChannelHandlerContext context;
  private Part part = Part.IDLE;
  private ScheduledFuture<?> deadline;

  RequestTimeout(ServerTimeouts timeouts) {
    this.timeouts = timeouts;
  }

  @Override
  public void handlerAdded(ChannelHandlerContext added) {
    context = added;
  }

  @Override
  public void channelActive(ChannelHandlerContext active) {
    await(Part.IDLE);
    active.fireChannelActive();
  }

  @Override
  public void channelRead(ChannelHandlerContext reader, Object bytes) {
    if (part == Part.IDLE) {
      await(Part.HEAD);
    }
    reader.fireChannelRead(bytes);
  }

  @Override
  public void channelInactive(ChannelHandlerContext inactive) {
    cancel();
    inactive.fireChannelInactive();
  }

  /** Begins to wait for a part, its whole time from now. */
  void await(Part next) {
    cancel();
    part = next;
    Duration most =
        switch (next) {
          case IDLE -> timeouts.idle();
          case HEAD -> timeouts.head();
          case BODY -> timeouts.body();
          case ANSWER -> null;
        };
    if (most != null && context.channel().isActive()) {
      deadline =
          context
              .executor()
              .schedule(
                  () -> {
                    context.fireUserEventTriggered(next);
                  },
                  most.toMillis(),
                  TimeUnit.MILLISECONDS);
    }
  }

  private void cancel() {
    if (deadline != null) {
      deadline.cancel(false);
      deadline = null;
    }
  }
}
