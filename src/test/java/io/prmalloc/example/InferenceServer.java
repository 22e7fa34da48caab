package io.prmalloc.example;

import ai.onnxruntime.OrtException;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.flow.FlowControlHandler;
import io.netty.handler.timeout.WriteTimeoutHandler;
import io.netty.util.concurrent.GlobalEventExecutor;
import io.prmalloc.example.model.ModelFile;
import io.prmalloc.example.model.SampleNetwork;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * An inference server: KServe's v2 protocol over HTTP with tensors as bytes, ONNX Runtime, and two
 * networks of {@link SampleNetwork}, {@code small} and {@code large}, or a model from a file.
 * Listens on the loopback address.
 *
 * <p>Threading: any thread.
 */
public final class InferenceServer implements AutoCloseable {

  private static final int GRACE_SECONDS = 30;

  private final ServerOptions options;
  private final ServerMemory memory;
  private final ServerEngine engine;
  private final ServerMetrics metrics = new ServerMetrics();
  private final Map<String, ServedModel> models = new LinkedHashMap<>();
  private final ThreadPoolExecutor workers;
  private final ChannelGroup connections = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
  private final AtomicInteger inFlight = new AtomicInteger();

  @SuppressWarnings("deprecation") // in Netty 4.2, whose successor 4.1 does not have
  private final EventLoopGroup eventLoops = new NioEventLoopGroup(1);

  private final Channel listener;
  private volatile boolean closing;

  /**
   * Starts to serve.
   *
   * @throws OrtException if a network cannot be loaded, or ONNX Runtime refuses the memory
   * @throws IllegalArgumentException if the shapes of a model from a file do not fit it; in all
   *     cases nothing is kept
   * @throws UncheckedIOException if the port cannot be had; names it
   */
  public InferenceServer(ServerOptions options) throws OrtException {
    this.options = options;
    this.memory =
        new ServerMemory(
            options.memory(), options.limits().maxBufferedBytes(), options.planStore());
    this.workers =
        new ThreadPoolExecutor(
            options.workers(),
            options.workers(),
            0,
            TimeUnit.SECONDS,
            new ArrayBlockingQueue<>(ServerOptions.MAX_WAITING));
    this.engine = startEngine();
    try {
      if (memory.pool() != null) {
        metrics.show(memory.pool(), "server");
      }
      if (engine.ownPool() != null) {
        metrics.show(engine.ownPool(), "engine");
      }
      addModels();
      this.listener = listen();
    } catch (Throwable e) {
      stop();
      throw e;
    }
  }

  private ServerEngine startEngine() throws OrtException {
    try {
      return new ServerEngine(options.engine(), memory.pool());
    } catch (Throwable e) {
      stopThreads();
      memory.close();
      throw e;
    }
  }

  private void addModels() throws OrtException {
    if (options.model() == null) {
      add("small", SampleNetwork.SMALL);
      add("large", SampleNetwork.LARGE);
    } else {
      long maxBytes = options.limits().maxRequestBytes();
      models.put(
          ModelFile.NAME, new ServedModel(options.model(), engine, memory.tensors(), maxBytes));
    }
  }

  private void add(String name, SampleNetwork network) throws OrtException {
    models.put(name, new ServedModel(name, network.toOnnx(), engine, memory.tensors()));
  }

  private Channel listen() {
    InetSocketAddress address =
        new InetSocketAddress(InetAddress.getLoopbackAddress(), options.port());
    ChannelFuture bound = bootstrap().bind(address).awaitUninterruptibly();
    if (!bound.isSuccess()) {
      String reason = "port " + options.port() + ": " + bound.cause().getMessage();
      throw new UncheckedIOException(reason, new IOException(reason, bound.cause()));
    }
    return bound.channel();
  }

  private ServerBootstrap bootstrap() {
    return new ServerBootstrap()
        .group(eventLoops)
        .channel(NioServerSocketChannel.class)
        .option(ChannelOption.ALLOCATOR, memory.buffers())
        .childOption(ChannelOption.ALLOCATOR, memory.buffers())
        .childOption(ChannelOption.AUTO_READ, false)
        .childHandler(
            new ChannelInitializer<SocketChannel>() {
              @Override
              protected void initChannel(SocketChannel connection) {
                prepare(connection);
              }
            });
  }

  private void prepare(SocketChannel connection) {
    ServerLimits limits = options.limits();
    connections.add(connection);
    Refusal refusal = null;
    if (connections.size() > limits.maxConnections()) {
      refusal = Refusal.unavailable("more than " + limits.maxConnections() + " connections");
    }
    RequestTimeout timeout = new RequestTimeout(limits.timeouts());
    HttpDecoderConfig http =
        new HttpDecoderConfig()
            .setMaxInitialLineLength(ServerLimits.MAX_LINE_BYTES)
            .setMaxHeaderSize(ServerLimits.MAX_HEADER_BYTES)
            .setMaxChunkSize(BodyBuffer.PIECE_BYTES);
    connection
        .pipeline()
        .addLast(timeout)
        .addLast(
            new WriteTimeoutHandler(limits.timeouts().answer().toMillis(), TimeUnit.MILLISECONDS))
        .addLast(new HttpServerCodec(http))
        .addLast(new FlowControlHandler())
        .addLast(new ServerHandler(this, timeout, refusal));
  }

  /** Where it serves. */
  public URI address() {
    int port = ((InetSocketAddress) listener.localAddress()).getPort();
    return URI.create("http://127.0.0.1:" + port);
  }

  /** Bytes of the tensors of requests under way. */
  public long tensorBytes() {
    return memory.tensorBytes();
  }

  /** Bytes that hold what has come of requests that do not run yet. */
  public long bufferedBytes() {
    return memory.bufferedBytes();
  }

  /** Connections that are open. */
  public int connections() {
    return connections.size();
  }

  /** Workers that have a request. */
  public int busyWorkers() {
    return workers.getActiveCount();
  }

  /** Requests begun and not answered. */
  public int requestsInFlight() {
    return inFlight.get();
  }

  ServerMemory memory() {
    return memory;
  }

  boolean isReady() {
    return !closing;
  }

  String metricsPage() {
    return metrics.page(memory, inFlight.get());
  }

  ObjectNode metadata() {
    ObjectNode node = JsonNodeFactory.instance.objectNode();
    node.put("name", "prmalloc-example").put("version", "1");
    node.putArray("extensions").add("binary_tensor_data");
    return node;
  }

  ServedModel model(String name) throws Refusal {
    ServedModel model = models.get(name);
    if (model == null) {
      throw new Refusal(
          HttpResponseStatus.NOT_FOUND,
          "there is no model `" + name + "`; there are " + models.keySet());
    }
    return model;
  }

  /** Begins an inference, if there can be one. Takes no memory for it yet. */
  Exchange begin(String name, HttpHeaders headers) throws Refusal {
    ServedModel model = model(name);
    ServerLimits limits = options.limits();
    int headerBytes = count(headers, ServerHandler.HEADER_LENGTH, ServerLimits.MAX_JSON_BYTES);
    long most = headerBytes < 0 ? ServerLimits.MAX_JSON_BYTES : limits.maxBodyBytes();
    int bodyBytes = count(headers, HttpHeaderNames.CONTENT_LENGTH.toString(), most);
    if (headerBytes > bodyBytes && bodyBytes >= 0) {
      throw Refusal.badRequest(
          ServerHandler.HEADER_LENGTH + " " + headerBytes + " is over the body's " + bodyBytes);
    }
    inFlight.incrementAndGet();
    if (closing) {
      inFlight.decrementAndGet();
      throw Refusal.unavailable("the server is shutting down");
    }
    return new Exchange(
        model,
        new RequestBody(model, headerBytes, bodyBytes, memory, limits.maxRequestBytes()),
        memory,
        inFlight::decrementAndGet);
  }

  /** A header that counts bytes; −1 if it is not there. */
  private static int count(HttpHeaders headers, String name, long most) throws Refusal {
    String text = headers.get(name);
    if (text == null) {
      return -1;
    }
    if (!text.matches("[0-9]{1,18}")) {
      throw Refusal.badRequest(name + " `" + text + "` is no count");
    }
    long count = Long.parseLong(text);
    if (count > most) {
      throw Refusal.tooLarge(name + " " + count + " is over " + most);
    }
    return (int) count;
  }

  /**
   * Has a complete request run and answered.
   *
   * @param written is called on the connection's event loop once the answer is written, or cannot
   *     be; all that the request held has gone back by then
   */
  void run(
      Exchange exchange,
      ChannelHandlerContext context,
      boolean keepAlive,
      ChannelFutureListener written)
      throws Refusal {
    try {
      workers.execute(() -> runHere(exchange, context, keepAlive, written));
    } catch (RejectedExecutionException full) {
      throw Refusal.unavailable("more than " + ServerOptions.MAX_WAITING + " requests wait");
    }
  }

  @SuppressWarnings("FutureReturnValueIgnored") // a connection whose close fails is closed
  private void runHere(
      Exchange exchange,
      ChannelHandlerContext context,
      boolean keepAlive,
      ChannelFutureListener written) {
    try {
      FullHttpResponse response = response(exchange, context);
      // The body is the outputs, so they stay until it is written, or cannot be.
      write(response, context, keepAlive)
          .addListener(done -> exchange.abandon())
          .addListener(written);
    } catch (Throwable e) {
      exchange.abandon();
      context.close();
      throw e;
    }
  }

  private FullHttpResponse response(Exchange exchange, ChannelHandlerContext context) {
    try {
      ResponseBody body = exchange.run(context.alloc());
      boolean binary = body.jsonBytes() >= 0;
      FullHttpResponse response =
          ServerHandler.response(
              HttpResponseStatus.OK,
              binary ? "application/octet-stream" : "application/json",
              body.content());
      if (binary) {
        response.headers().set(ServerHandler.HEADER_LENGTH, body.jsonBytes());
      }
      metrics.countInference(exchange.nanos());
      return response;
    } catch (Refusal refused) {
      return ServerHandler.error(context, refused);
    } catch (OrtException | RuntimeException | OutOfMemoryError failed) {
      return ServerHandler.error(
          context, new Refusal(HttpResponseStatus.INTERNAL_SERVER_ERROR, failed.getMessage()));
    }
  }

  ChannelFuture write(FullHttpResponse response, ChannelHandlerContext context, boolean keepAlive) {
    metrics.countResponse(response.status().code());
    response
        .headers()
        .set(
            HttpHeaderNames.CONNECTION,
            keepAlive ? HttpHeaderValues.KEEP_ALIVE : HttpHeaderValues.CLOSE);
    return context.writeAndFlush(response);
  }

  /**
   * Stops: takes no more connections, refuses new requests, lets those under way come to their end,
   * and gives everything back. Nothing the second time.
   *
   * @throws IllegalStateException if something was lost
   */
  @Override
  public synchronized void close() {
    if (closing) {
      return;
    }
    closing = true;
    listener.close().syncUninterruptibly();
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(GRACE_SECONDS);
    while (inFlight.get() > 0 && System.nanoTime() < deadline) {
      pause();
    }
    connections.close().awaitUninterruptibly();
    stop();
  }

  /** Ends threads, sessions, the engine's memory and the server's, in this order. */
  private void stop() {
    stopThreads();
    try {
      for (ServedModel model : models.values()) {
        model.close();
      }
    } catch (OrtException e) {
      throw new IllegalStateException(e);
    }
    engine.close();
    memory.close();
  }

  private void stopThreads() {
    workers.shutdown();
    eventLoops.shutdownGracefully(0, GRACE_SECONDS, TimeUnit.SECONDS).syncUninterruptibly();
    try {
      if (!workers.awaitTermination(GRACE_SECONDS, TimeUnit.SECONDS)) {
        throw new IllegalStateException("a model still runs after " + GRACE_SECONDS + " s");
      }
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static void pause() {
    try {
      Thread.sleep(1);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
