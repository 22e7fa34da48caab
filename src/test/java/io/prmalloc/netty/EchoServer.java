package io.prmalloc.netty;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.FixedRecvByteBufAllocator;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.concurrent.TimeUnit;

/** Answers every HTTP request with its own body, on this machine only. */
final class EchoServer implements AutoCloseable {

  private static final int MOST_BYTES = 16 << 20;
  private static final int READ_BYTES = 64 << 10;

  private final EventLoopGroup group;
  private final Channel channel;

  @SuppressWarnings("deprecation") // in 4.2, whose successor 4.1 does not have
  EchoServer(ByteBufAllocator buffers, int threads) {
    group = new NioEventLoopGroup(threads);
    // page
    ServerBootstrap server =
        new ServerBootstrap()
            .group(group)
            .channel(NioServerSocketChannel.class)
            .option(ChannelOption.ALLOCATOR, buffers)
            .childOption(ChannelOption.ALLOCATOR, buffers)
            .childHandler(handlers());
    // end of page
    channel =
        server
            .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
            .syncUninterruptibly()
            .channel();
  }

  private static ChannelInitializer<SocketChannel> handlers() {
    return new ChannelInitializer<>() {
      @Override
      protected void initChannel(SocketChannel connection) {
        connection.config().setRecvByteBufAllocator(new FixedRecvByteBufAllocator(READ_BYTES));
        connection
            .pipeline()
            .addLast(new HttpServerCodec(), new HttpObjectAggregator(MOST_BYTES), new Echo());
      }
    };
  }

  private static final class Echo extends SimpleChannelInboundHandler<FullHttpRequest> {
    @Override
    protected void channelRead0(ChannelHandlerContext context, FullHttpRequest request) {
      // Through a buffer of the channel's own allocator that has to grow, and a slice of it.
      ByteBuf copy = context.alloc().buffer(16);
      copy.writeByte(0).writeBytes(request.content());
      ByteBuf body = copy.readRetainedSlice(copy.readableBytes()).skipBytes(1);
      copy.release();
      DefaultFullHttpResponse answer =
          new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK, body);
      HttpUtil.setContentLength(answer, body.readableBytes());
      HttpUtil.setKeepAlive(answer, HttpUtil.isKeepAlive(request));
      boolean last = !HttpUtil.isKeepAlive(request);
      answer.headers().set(HttpHeaderNames.CONTENT_TYPE, "application/octet-stream");
      context.writeAndFlush(answer).addListener(last ? ChannelFutureListener.CLOSE : done -> {});
    }
  }

  URI address() {
    return URI.create("http://127.0.0.1:" + ((InetSocketAddress) channel.localAddress()).getPort());
  }

  @Override
  public void close() {
    channel.close().syncUninterruptibly();
    group.shutdownGracefully(0, 10, TimeUnit.SECONDS).syncUninterruptibly();
  }
}
