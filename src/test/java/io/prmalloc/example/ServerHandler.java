package io.prmalloc.example;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
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
import io.netty.handler.timeout.IdleStateEvent;
import java.nio.charset.StandardCharsets;

/**
 * One connection: reads a request, has it answered, reads the next.
 *
 * <p>Threading: the connection's event loop.
 */
@SuppressWarnings("FutureReturnValueIgnored") // a write or close that fails ends the connection
final class ServerHandler extends SimpleChannelInboundHandler<HttpObject> {
  // Reading is by hand: one message at a time, and none while an answer is under way. So requests
  // that a client sends ahead wait in the socket, answers keep their order, and a request that is
  // refused in its middle is read to its end without being kept, so that the client gets to read
  // why. Reading to the end has a bound; behind it the connection is closed.

  static final String HEADER_LENGTH = "Inference-Header-Content-Length";

  private static final long MAX_IGNORED_BYTES = 256L << 20;

  private final InferenceServer server;
  private boolean keepAlive;
  private Exchange exchange;
  private FullHttpResponse plainAnswer;
  private Refusal refusal;
  private long ignoredBytes;

  ServerHandler(InferenceServer server) {
    this.server = server;
  }

  @Override
  public void channelActive(ChannelHandlerContext context) {
    context.read();
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
    if (plainAnswer != null) {
      plainAnswer.release();
      plainAnswer = null;
    }
  }

  @Override
  public void userEventTriggered(ChannelHandlerContext context, Object event) {
    if (event instanceof IdleStateEvent) {
      context.close();
    }
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    // Mostly a client that went away.
    context.close();
  }

  @Override
  protected void channelRead0(ChannelHandlerContext context, HttpObject message) {
    if (message.decoderResult().isFailure()) {
      keepAlive = false;
      refuse(Refusal.badRequest("no HTTP: " + message.decoderResult().cause().getMessage()));
      answer(context);
      return;
    }
    if (message instanceof HttpRequest request) {
      begin(context, request);
    }
    if (message instanceof HttpContent content) {
      take(context, content);
    } else {
      context.read();
    }
  }

  private void begin(ChannelHandlerContext context, HttpRequest request) {
    keepAlive = HttpUtil.isKeepAlive(request);
    refusal = null;
    ignoredBytes = 0;
    try {
      String model = inferred(request);
      if (model == null) {
        plainAnswer = plain(context, request);
      } else {
        exchange = server.begin(model, request.headers(), context.alloc());
        if (HttpUtil.is100ContinueExpected(request)) {
          context.writeAndFlush(
              new DefaultFullHttpResponse(
                  HttpVersion.HTTP_1_1, HttpResponseStatus.CONTINUE, Unpooled.EMPTY_BUFFER));
        }
      }
    } catch (Refusal refused) {
      refuse(refused);
    }
  }

  private void refuse(Refusal refused) {
    forget();
    refusal = refused;
  }

  private void take(ChannelHandlerContext context, HttpContent content) {
    ByteBuf data = content.content();
    if (exchange != null && refusal == null) {
      try {
        exchange.body().add(data);
      } catch (Refusal refused) {
        refuse(refused);
      }
    }
    ignoredBytes += data.readableBytes();
    if (ignoredBytes > MAX_IGNORED_BYTES) {
      keepAlive = false;
    }
    if (content instanceof LastHttpContent || ignoredBytes > MAX_IGNORED_BYTES) {
      answer(context);
    } else {
      context.read();
    }
  }

  private void answer(ChannelHandlerContext context) {
    if (exchange != null) {
      Exchange complete = exchange;
      exchange = null;
      try {
        complete.finish();
        server.run(complete, context, keepAlive);
        return;
      } catch (Refusal refused) {
        complete.abandon();
        refusal = refused;
      }
    }
    FullHttpResponse response = plainAnswer;
    plainAnswer = null;
    if (refusal != null) {
      if (response != null) {
        response.release();
      }
      response = error(context, refusal);
    }
    server.write(response, context, keepAlive).addListener(nextOrClose(context, keepAlive));
  }

  /** What follows an answer. */
  static ChannelFutureListener nextOrClose(ChannelHandlerContext context, boolean keepAlive) {
    return written -> {
      if (keepAlive && written.isSuccess()) {
        context.read();
      } else {
        context.close();
      }
    };
  }

  /** The model that is to be run, or null if the request is for something else. */
  private static String inferred(HttpRequest request) throws Refusal {
    String[] path = path(request);
    if (path.length != 4 || !path[3].equals("infer")) {
      return null;
    }
    if (!request.method().equals(HttpMethod.POST)) {
      throw new Refusal(HttpResponseStatus.METHOD_NOT_ALLOWED, request.uri() + " takes POST only");
    }
    return path[2];
  }

  /** The words of {@code /v2/models/NAME/infer}; a version is ignored, for there is one. */
  private static String[] path(HttpRequest request) {
    String path = request.uri().replaceFirst("[?].*", "").replaceFirst("/versions/1(?=/|$)", "");
    return path.replaceFirst("^/", "").split("/", -1);
  }

  private FullHttpResponse plain(ChannelHandlerContext context, HttpRequest request)
      throws Refusal {
    if (!request.method().equals(HttpMethod.GET)) {
      throw new Refusal(HttpResponseStatus.METHOD_NOT_ALLOWED, request.uri() + " takes GET only");
    }
    String[] path = path(request);
    String all = String.join("/", path);
    return switch (all) {
      case "metrics" ->
          response(
              HttpResponseStatus.OK,
              "text/plain; version=0.0.4",
              context.alloc().buffer().writeBytes(bytes(server.metricsPage())));
      case "v2" -> json(context, HttpResponseStatus.OK, server.metadata());
      case "v2/health/live" -> health(context, "live", true);
      case "v2/health/ready" -> health(context, "ready", server.isReady());
      default -> modelPage(context, path, request.uri());
    };
  }

  private FullHttpResponse modelPage(ChannelHandlerContext context, String[] path, String uri)
      throws Refusal {
    boolean isModel = path.length >= 3 && path[0].equals("v2") && path[1].equals("models");
    if (isModel && path.length == 3) {
      return json(context, HttpResponseStatus.OK, server.model(path[2]).metadata());
    }
    if (isModel && path.length == 4 && path[3].equals("ready")) {
      server.model(path[2]);
      return health(context, "ready", server.isReady());
    }
    throw new Refusal(HttpResponseStatus.NOT_FOUND, "there is nothing at " + uri);
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
