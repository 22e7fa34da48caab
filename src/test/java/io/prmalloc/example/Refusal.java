package io.prmalloc.example;

import io.netty.handler.codec.http.HttpResponseStatus;
import java.io.Serial;

/** The reason why a request is not served, in words for the client. */
public final class Refusal extends Exception {

  @Serial private static final long serialVersionUID = 1L;

  private final transient HttpResponseStatus status;

  Refusal(HttpResponseStatus status, String message) {
    super(message);
    this.status = status;
  }

  public static Refusal badRequest(String message) {
    return new Refusal(HttpResponseStatus.BAD_REQUEST, message);
  }

  static Refusal tooLarge(String message) {
    return new Refusal(HttpResponseStatus.REQUEST_ENTITY_TOO_LARGE, message);
  }

  static Refusal unavailable(String message) {
    return new Refusal(HttpResponseStatus.SERVICE_UNAVAILABLE, message);
  }

  HttpResponseStatus status() {
    return status;
  }
}
