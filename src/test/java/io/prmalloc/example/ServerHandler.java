package io.prmalloc.example;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.codec.http.TooLongHttpLineException;
import java.nio.charset.StandardCharsets;
import java.util.Set;

/**
 * One connection: reads a request, has it answered, reads the next.
 *
 * <p>Threading: the connection's event loop.
 */
@SuppressWarnings("FutureReturnValueIgnored") // a write or close that fails ends the connection
final class ServerHandler extends SimpleChannelInboundHandler<HttpObject> {
  // Reading is by hand: one message at a time, and none while an answer is under way. So requests
  // that a client sends ahead wait in the socket, and answers keep their order.
  //
  // What can be answered before its body has come is answered then. The body is read to its end all
  // the same, without being kept: a socket that is closed with bytes unread takes the answer back,
  // and behind the body is the next request. This has a bound in bytes and in time; beyond it the
  // connection is closed.

  static final String HEADER_LENGTH = "Inference-Header-Content-Length";

  /** Those that belong to no model. */
  private static final Set<String> PAGES =
      Set.of("metrics", "v2", "v2/health/live", "v2/health/ready");

  private final InferenceServer server;
  private final RequestTimeout timeout;
  private final Refusal refusedAtOnce;
  private boolean keepAlive;

  /** The request that comes in; null once it was handed over, or answered. */
  private Exchange exchange;

  /** Whether an answer is on its way, or written. */
  private boolean answering;

  private boolean answered;
  private boolean bodyComplete;
  private long droppedBytes;

  private boolean reading;
  private boolean readAgain;

  /**
   * @param timeout of the connection
   * @param refusedAtOnce what the client is told instead of being served, or null
   */
  ServerHandler(InferenceServer server, RequestTimeout timeout, Refusal refusedAtOnce) {
    this.server = server;
    this.timeout = timeout;
    this.refusedAtOnce = refusedAtOnce;
  }

  @Override
  public void channelActive(ChannelHandlerContext context) {
    if (refusedAtOnce == null) {
      read(context);
    } else {
      bodyComplete = true;
      refuse(context, refusedAtOnce);
    }
  }

  /** Asks for the next message. One that is there already is taken by a loop, not a recursion. */
  private void read(ChannelHandlerContext context) {
    readAgain = true;
    if (reading) {
      return;
    }
    reading = true;
    try {
      while (readAgain) {
        readAgain = false;
        context.read();
      }
    } finally {
      reading = false;
    }
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    forget();
  }

  /** Drops a request that is not complete. One that a worker has is that worker's. */
  private void forget() {
    if (exchange != null) {
      exchange.abandon();
      exchange = null;
    }
  }

  @Override
  public void userEventTriggered(ChannelHandlerContext context, Object event) {
    if (event instanceof RequestTimeout.Part late) {
      if (late == RequestTimeout.Part.IDLE || answering) {
        context.close();
      } else {
        late(context, late == RequestTimeout.Part.HEAD ? "head" : "body");
      }
    }
  }

  private void late(ChannelHandlerContext context, String what) {
    keepAlive = false;
    bodyComplete = false;
    // As long again for the client to take note and to close.
    timeout.await(RequestTimeout.Part.BODY);
    refuse(
        context,
        new Refusal(HttpResponseStatus.REQUEST_TIMEOUT, "the request's " + what + " did not come"));
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    // Mostly a client that went away, or does not read its answer.
    context.close();
  }

  @Override
  protected void channelRead0(ChannelHandlerContext context, HttpObject message) {
    if (message.decoderResult().isFailure()) {
      refuse(context, message.decoderResult().cause());
      read(context);
      return;
    }
    // A head that comes after it was told that it is late is not served.
    if (message instanceof HttpRequest request && !answering) {
      begin(context, request);
    }
    if (message instanceof HttpContent content) {
      take(context, content);
    }
    if (!bodyComplete && context.channel().isActive()) {
      read(context);
    }
  }

  private void begin(ChannelHandlerContext context, HttpRequest request) {
    keepAlive = HttpUtil.isKeepAlive(request);
    answering = false;
    bodyComplete = false;
    droppedBytes = 0;
    timeout.await(RequestTimeout.Part.BODY);
    try {
      String model = inferred(request);
      if (model == null) {
        beforeBody(request);
        answer(context, plain(context, request));
      } else {
        exchange = server.begin(model, request.headers());
        if (HttpUtil.is100ContinueExpected(request)) {
          context.writeAndFlush(
              new DefaultFullHttpResponse(
                  HttpVersion.HTTP_1_1, HttpResponseStatus.CONTINUE, Unpooled.EMPTY_BUFFER));
        }
      }
    } catch (Refusal refused) {
      beforeBody(request);
      refuse(context, refused);
    }
  }

  /** A body that need not come, or is too long to be dropped, ends the connection. */
  private void beforeBody(HttpRequest request) {
    if (HttpUtil.is100ContinueExpected(request)
        || HttpUtil.getContentLength(request, 0L) > ServerLimits.MAX_DROPPED_BYTES) {
      keepAlive = false;
    }
  }

  private void take(ChannelHandlerContext context, HttpContent content) {
    bodyComplete = content instanceof LastHttpContent;
    if (exchange != null) {
      try {
        exchange.body().add(content.content());
        if (bodyComplete) {
          exchange.body().complete();
          run(context);
        }
      } catch (Refusal refused) {
        refuse(context, refused);
      }
      return;
    }
    droppedBytes += content.content().readableBytes();
    if (droppedBytes > ServerLimits.MAX_DROPPED_BYTES) {
      context.close();
    } else if (bodyComplete) {
      nextOrClose(context);
    }
  }

  private void run(ChannelHandlerContext context) throws Refusal {
    answering = true;
    answered = false;
    server.run(exchange, context, keepAlive, written -> written(context, written.isSuccess()));
    exchange = null;
    timeout.await(RequestTimeout.Part.ANSWER);
  }

  /** Answers what is no HTTP, behind which no request can be found. */
  private void refuse(ChannelHandlerContext context, Throwable noHttp) {
    keepAlive = false;
    if (answering) {
      context.close();
      return;
    }
    HttpResponseStatus status = HttpResponseStatus.BAD_REQUEST;
    if (noHttp instanceof TooLongHttpLineException) {
      status = HttpResponseStatus.REQUEST_URI_TOO_LONG;
    } else if (noHttp instanceof TooLongHttpHeaderException) {
      status = HttpResponseStatus.REQUEST_HEADER_FIELDS_TOO_LARGE;
    }
    bodyComplete = false;
    timeout.await(RequestTimeout.Part.BODY);
    refuse(context, new Refusal(status, "no HTTP: " + noHttp.getMessage()));
  }

  private void refuse(ChannelHandlerContext context, Refusal refused) {
    forget();
    answer(context, error(context, refused));
  }

  private void answer(ChannelHandlerContext context, FullHttpResponse response) {
    answering = true;
    answered = false;
    server
        .write(response, context, keepAlive)
        .addListener(written -> written(context, written.isSuccess()));
  }

  private void written(ChannelHandlerContext context, boolean succeeded) {
    answered = true;
    if (!succeeded) {
      context.close();
    } else if (bodyComplete) {
      nextOrClose(context);
    } else if (!keepAlive && context.channel() instanceof DuplexChannel connection) {
      // The client sees the end, and its own end is awaited.
      connection.shutdownOutput();
    }
  }

  /** What follows a request that has come and was answered. */
  private void nextOrClose(ChannelHandlerContext context) {
    if (!answered) {
      return;
    }
    if (keepAlive) {
      answering = false;
      timeout.await(RequestTimeout.Part.IDLE);
      read(context);
    } else {
      context.close();
    }
  }

  /** The model that is to be run, or null if the request is for something else. */
  private static String inferred(HttpRequest request) throws Refusal {
    String[] path = path(request);
    if (!isModel(path) || path.length != 4 || !path[3].equals("infer")) {
      return null;
    }
    if (!request.method().equals(HttpMethod.POST)) {
      throw new Refusal(HttpResponseStatus.METHOD_NOT_ALLOWED, request.uri() + " takes POST only");
    }
    return path[2];
  }

  /** The words of {@code /v2/models/NAME/infer}; a version is ignored, for there is one. */
  private static String[] path(HttpRequest request) {
    String path =
        request
            .uri()
            .replaceFirst("[?].*", "")
            .replaceFirst("^(/v2/models/[^/]+)/versions/1(?=/|$)", "$1");
    return path.replaceFirst("^/", "").split("/", -1);
  }

  private FullHttpResponse plain(ChannelHandlerContext context, HttpRequest request)
      throws Refusal {
    String[] path = path(request);
    if (!isPage(path)) {
      throw new Refusal(HttpResponseStatus.NOT_FOUND, "there is nothing at " + request.uri());
    }
    if (!request.method().equals(HttpMethod.GET)) {
      throw new Refusal(HttpResponseStatus.METHOD_NOT_ALLOWED, request.uri() + " takes GET only");
    }
    return switch (String.join("/", path)) {
      case "metrics" ->
          response(
              HttpResponseStatus.OK,
              "text/plain; version=0.0.4",
              context.alloc().buffer().writeBytes(bytes(server.metricsPage())));
      case "v2" -> json(context, HttpResponseStatus.OK, server.metadata());
      case "v2/health/live" -> health(context, "live", true);
      case "v2/health/ready" -> health(context, "ready", server.isReady());
      default -> modelPage(context, path);
    };
  }

  private static boolean isModel(String[] path) {
    return path.length >= 3 && path[0].equals("v2") && path[1].equals("models");
  }

  private static boolean isPage(String[] path) {
    boolean isModelPage = path.length == 3 || (path.length == 4 && path[3].equals("ready"));
    return PAGES.contains(String.join("/", path)) || (isModel(path) && isModelPage);
  }

  /** The metadata of a model, or whether it is ready. */
  private FullHttpResponse modelPage(ChannelHandlerContext context, String[] path) throws Refusal {
    ServedModel model = server.model(path[2]);
    return path.length == 3
        ? json(context, HttpResponseStatus.OK, model.metadata())
        : health(context, "ready", server.isReady());
  }

  private static FullHttpResponse health(
      ChannelHandlerContext context, String word, boolean healthy) {
    ObjectNode node = JsonNodeFactory.instance.objectNode().put(word, healthy);
    return json(
        context, healthy ? HttpResponseStatus.OK : HttpResponseStatus.SERVICE_UNAVAILABLE, node);
  }

  static FullHttpResponse error(ChannelHandlerContext context, Refusal refusal) {
    ObjectNode node = JsonNodeFactory.instance.objectNode().put("error", refusal.getMessage());
    return json(context, refusal.status(), node);
  }

  private static FullHttpResponse json(
      ChannelHandlerContext context, HttpResponseStatus status, ObjectNode node) {
    return response(status, "application/json", ResponseBody.text(node, context.alloc()));
  }

  static FullHttpResponse response(HttpResponseStatus status, String type, ByteBuf content) {
    FullHttpResponse response = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, status, content);
    response.headers().set(HttpHeaderNames.CONTENT_TYPE, type);
    response.headers().set(HttpHeaderNames.CONTENT_LENGTH, content.readableBytes());
    return response;
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
