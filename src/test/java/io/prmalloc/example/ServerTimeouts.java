package io.prmalloc.example;

import java.time.Duration;

/**
 * How long a server waits for a client. Each is the whole time of its part, not that since the last
 * byte, so a client that sends or reads one byte now and then does not win more.
 *
 * @param idle for the first byte of a request, after connecting or after the answer before; the
 *     connection is closed then
 * @param head from a request's first byte to its last header; 408 then
 * @param body from there to the body's last byte; 408 then, and as long again until the connection
 *     is closed unless the client does
 * @param answer from the moment an answer is ready until the socket has taken the last of it; the
 *     connection is closed then
 */
public record ServerTimeouts(Duration idle, Duration head, Duration body, Duration answer) {

  /** 60 s, 10 s, 60 s, 60 s. */
  public static final ServerTimeouts DEFAULT =
      new ServerTimeouts(
          Duration.ofSeconds(60),
          Duration.ofSeconds(10),
          Duration.ofSeconds(60),
          Duration.ofSeconds(60));

  /**
   * @throws IllegalArgumentException if one is under a millisecond
   */
  public ServerTimeouts {
    check("idle", idle);
    check("head", head);
    check("body", body);
    check("answer", answer);
  }

  private static void check(String name, Duration timeout) {
    if (timeout.toMillis() < 1) {
      throw new IllegalArgumentException(name + " timeout " + timeout + " is under 1 ms");
    }
  }
}
