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

  private static final Duration LEAST = Duration.ofMillis(1);

  /** Far more than anybody waits; its nanoseconds are a long. */
  private static final Duration MOST = Duration.ofDays(365);

  /** 60 s, 10 s, 60 s, 60 s. */
  public static final ServerTimeouts DEFAULT =
      new ServerTimeouts(
          Duration.ofSeconds(60),
          Duration.ofSeconds(10),
          Duration.ofSeconds(60),
          Duration.ofSeconds(60));

  /**
   * @throws IllegalArgumentException if one is under a millisecond, or over 365 days
   */
  public ServerTimeouts {
    check("idle", idle);
    check("head", head);
    check("body", body);
    check("answer", answer);
  }

  private static void check(String name, Duration timeout) {
    if (timeout.compareTo(LEAST) < 0 || timeout.compareTo(MOST) > 0) {
      throw new IllegalArgumentException(
          name + " timeout " + timeout + " is not from 1 ms to 365 days");
    }
  }
}
