package io.prmalloc.jmh.server;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.FixedRecvByteBufAllocator;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;

/**
 * Gathers the body of every HTTP request, reads eight bytes of each page, and answers with their
 * sum. Listens on this machine only.
 *
 * <p>Threading: any thread.
 */
final class BodyServer implements AutoCloseable {

  /** Bytes of a read. */
  static final int READ_BYTES = 64 << 10;

  /** Bytes of an answer's body. */
  static final int ANSWER_BYTES = Long.BYTES;

  private static final int MOST_HEAD_BYTES = 8 << 10;

  private final EventLoopGroup group;
  private final Channel channel;

  /**
   * @param buffers where all network buffers come from; the caller's
   * @param gathering of bodies
   * @param threads event loops, from 1
   */
  BodyServer(ByteBufAllocator buffers, Gathering gathering, int threads) {
    group = new MultiThreadIoEventLoopGroup(threads, NioIoHandler.newFactory());
    channel =
        new ServerBootstrap()
            .group(group)
            .channel(NioServerSocketChannel.class)
            .option(ChannelOption.ALLOCATOR, buffers)
            .childOption(ChannelOption.ALLOCATOR, buffers)
            .childOption(ChannelOption.RECVBUF_ALLOCATOR, new FixedRecvByteBufAllocator(READ_BYTES))
            .childHandler(
                new ChannelInitializer<SocketChannel>() {
                  @Override
                  protected void initChannel(SocketChannel connection) {
                    connection
                        .pipeline()
                        // What is read at a time is passed on as one piece.
                        .addLast(new HttpServerCodec(MOST_HEAD_BYTES, MOST_HEAD_BYTES, READ_BYTES));
                    if (gathering == Gathering.COMPOSITE) {
                      connection
                          .pipeline()
                          .addLast(new HttpObjectAggregator(Integer.MAX_VALUE), new Composites());
                    } else {
                      connection.pipeline().addLast(new Copies(gathering == Gathering.SIZED));
                    }
                  }
                })
            .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
            .syncUninterruptibly()
            .channel();
  }

  /** Where it listens. */
  int port() {
    return ((InetSocketAddress) channel.localAddress()).getPort();
  }

  /** Ends all connections, and waits until the event loops have ended. */
  @Override
  public void close() {
    channel.close().syncUninterruptibly();
    group.shutdownGracefully(0, 10, TimeUnit.SECONDS).syncUninterruptibly();
  }

  private static void answer(ChannelHandlerContext context, ByteBuf body) {
    long sum = 0;
    int looks = Bodies.looks(body.readableBytes());
    for (int look = 0; look < looks; look++) {
      sum += body.getLongLE(body.readerIndex() + look * Bodies.LOOK_BYTES);
    }
    DefaultFullHttpResponse answer =
        new DefaultFullHttpResponse(
            HttpVersion.HTTP_1_1,
            HttpResponseStatus.OK,
            context.alloc().buffer(ANSWER_BYTES).writeLong(sum));
    HttpUtil.setContentLength(answer, ANSWER_BYTES);
    context.writeAndFlush(answer).addListener(ChannelFutureListener.FIRE_EXCEPTION_ON_FAILURE);
  }

  private static final class Composites extends SimpleChannelInboundHandler<FullHttpRequest> {
    @Override
    protected void channelRead0(ChannelHandlerContext context, FullHttpRequest request) {
      answer(context, request.content());
    }
  }

  private static final class Copies extends ChannelInboundHandlerAdapter {
    private final boolean sized;
    private ByteBuf body;

    Copies(boolean sized) {
      this.sized = sized;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      try {
        if (message instanceof HttpRequest head) {
          body =
              context
                  .alloc()
                  .directBuffer(sized ? (int) HttpUtil.getContentLength(head) : READ_BYTES);
        }
        if (message instanceof HttpContent content) {
          body.writeBytes(content.content());
        }
        if (message instanceof LastHttpContent) {
          ByteBuf whole = body;
          body = null;
          try {
            answer(context, whole);
          } finally {
            whole.release();
          }
        }
      } finally {
        ReferenceCountUtil.release(message);
      }
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext context) {
      if (body != null) {
        body.release();
        body = null;
      }
    }
  }
}
