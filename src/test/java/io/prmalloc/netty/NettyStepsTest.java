package io.prmalloc.netty;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.ReferenceCounted;
import io.prmalloc.Allocator;
import io.prmalloc.CpuAllocator;
import io.prmalloc.SubAllocator;
import io.prmalloc.pool.TensorPoolAllocator;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.List;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

/** The handler that opens steps, with its code on the page {@code docs/netty.md}. */
class NettyStepsTest {

  @Test
  void shouldOpenAStepPerRequestWhenTheHandlerIsInThePipeline() throws Exception {
    TensorPoolAllocator pool =
        TensorPoolAllocator.builder().startStatisticStep(2).executor(Runnable::run).build();
    PrmallocByteBufAllocator buffers = new PrmallocByteBufAllocator(pool);
    List<Integer> lengths = new ArrayList<>();
    EmbeddedChannel channel = new EmbeddedChannel();
    channel.config().setAllocator(buffers);
    // page
    ChannelHandler steps = PrmallocByteBufAllocator.stepPerMessage(pool);
    channel.pipeline().addLast(steps).addLast(new Inferring());
    // end of page
    for (int request = 0; request < 40; request++) {
      channel.writeInbound(40_000 + request % 7 * 10_000); // of varying size, so steps are planned
      ByteBuf answer = channel.readOutbound();
      lengths.add(answer.readableBytes());
      answer.release();
    }
    assertEquals(40, lengths.size());
    assertTrue(pool.stepStats().plannedSteps() > 0, () -> pool.stepStats().toString());
    channel.close().syncUninterruptibly();
    assertEquals(0, pool.stats().bytesInUse());
    pool.close();
  }

  @Test
  void shouldCloseTheStepWhenAHandlerBehindFails() throws Exception {
    TensorPoolAllocator pool = TensorPoolAllocator.builder().startStatisticStep(2).build();
    List<Object> keys = new ArrayList<>();
    EmbeddedChannel channel =
        new EmbeddedChannel(
            PrmallocByteBufAllocator.stepPerMessage(
                pool,
                message -> {
                  keys.add(message);
                  return message;
                }),
            new Inferring());
    channel.config().setAllocator(new PrmallocByteBufAllocator(pool));
    assertThrows(NumberFormatException.class, () -> channel.writeInbound("no number"));
    channel.writeInbound(1000);
    ((ByteBuf) channel.readOutbound()).release();
    assertEquals(List.of("no number", 1000), keys);
    channel.close().syncUninterruptibly();
    pool.close();
  }

  @Test
  void shouldReleaseTheMessageWhenItsKeyCannotBeTold() {
    try (TensorPoolAllocator pool = TensorPoolAllocator.builder().build()) {
      EmbeddedChannel channel =
          new EmbeddedChannel(
              PrmallocByteBufAllocator.stepPerMessage(
                  pool,
                  message -> {
                    throw new IllegalArgumentException("no key");
                  }));
      ByteBuf message = new PrmallocByteBufAllocator(pool).buffer(1000);
      assertThrows(IllegalArgumentException.class, () -> channel.writeInbound(message));
      assertEquals(0, message.refCnt());
      channel.close().syncUninterruptibly();
    }
  }

  @Test
  void shouldLoseNothingWhenTheChannelIsClosedWithinAStepOfSeveral() {
    try (TensorPoolAllocator pool = TensorPoolAllocator.builder().startStatisticStep(2).build()) {
      ChannelHandler steps = PrmallocByteBufAllocator.stepPerMessage(pool);
      ChannelHandler ofAKind = PrmallocByteBufAllocator.stepPerMessage(pool, message -> "kind");
      PrmallocByteBufAllocator buffers = new PrmallocByteBufAllocator(pool);
      for (int request = 0; request < 100; request++) {
        EmbeddedChannel channel = new EmbeddedChannel(steps, ofAKind, steps, new Closing());
        channel.config().setAllocator(buffers);
        channel.writeInbound(buffers.buffer(70_000).writeZero(70_000));
        channel.finishAndReleaseAll();
      }
      assertEquals(0, pool.stats().bytesInUse());
    }
  }

  /** Closes the connection, and answers all the same. */
  private static final class Closing extends ChannelInboundHandlerAdapter {
    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      context.pipeline().removeFirst();
      context.close().addListener(closed -> {});
      context.writeAndFlush(context.alloc().directBuffer(100_000)).addListener(refused -> {});
      ReferenceCountUtil.release(message);
    }
  }

  /** Answers a number with as many bytes, by way of a tensor that is twice as large. */
  private static final class Inferring extends ChannelInboundHandlerAdapter {
    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      int bytes = Integer.parseInt(message.toString());
      ByteBuf tensor = context.alloc().directBuffer(2 * bytes);
      ByteBuf answer = context.alloc().directBuffer(bytes).writeZero(bytes);
      tensor.release();
      context.writeAndFlush(answer).addListener(done -> {});
    }
  }

  @Test
  void shouldNeedNoMoreOfNettyThanItsBuffersWhenThereIsNoHandler() throws Exception {
    List<URL> places = new ArrayList<>();
    for (Class<?> type :
        List.of(Allocator.class, ByteBuf.class, ReferenceCounted.class, UnsafeBuffer.class)) {
      places.add(type.getProtectionDomain().getCodeSource().getLocation());
    }
    URL[] few = places.toArray(URL[]::new);
    try (URLClassLoader alone = new URLClassLoader(few, ClassLoader.getPlatformClassLoader())) {
      Class<?> source = alone.loadClass(SubAllocator.class.getName());
      Class<?> allocator = alone.loadClass(Allocator.class.getName());
      Object memory =
          alone
              .loadClass(CpuAllocator.class.getName())
              .getConstructor(source)
              .newInstance(source.getMethod("direct").invoke(null));
      Object buffers =
          alone
              .loadClass(PrmallocByteBufAllocator.class.getName())
              .getConstructor(allocator)
              .newInstance(memory);
      Class<?> nettys = alone.loadClass(ByteBufAllocator.class.getName());
      Object buffer = nettys.getMethod("buffer", int.class).invoke(buffers, 16);
      Class<?> counted = alone.loadClass(ReferenceCounted.class.getName());
      assertEquals(true, counted.getMethod("release").invoke(buffer));
    }
  }
}
