package io.prmalloc.example;

/**
 * What a server allows its clients.
 *
 * @param maxConnections at a time, from 1; one more gets 503 and is closed
 * @param maxRequestBytes the most bytes of one request's tensors, from 1; its body may have {@link
 *     #MAX_JSON_BYTES} more
 * @param maxBufferedBytes the most bytes that all requests together hold before they run, at least
 *     those of one; a request that would exceed them gets 503
 * @param timeouts how long it waits for a client
 */
public record ServerLimits(
    int maxConnections, long maxRequestBytes, long maxBufferedBytes, ServerTimeouts timeouts) {

  /** The most bytes of JSON in one request. */
  static final int MAX_JSON_BYTES = 1 << 20;

  /** The most bytes of a request line. */
  static final int MAX_LINE_BYTES = 4 << 10;

  /** The most bytes of a request's headers together. */
  static final int MAX_HEADER_BYTES = 8 << 10;

  /** The most bytes of a refused body that are read and dropped; the connection is closed then. */
  static final long MAX_DROPPED_BYTES = 256L << 20;

  /** 256 connections, 64 MiB a request, 256 MiB for all. */
  public static final ServerLimits DEFAULT =
      new ServerLimits(256, 64L << 20, 256L << 20, ServerTimeouts.DEFAULT);

  /**
   * @throws IllegalArgumentException if a number is out of its bounds
   */
  public ServerLimits {
    if (maxConnections < 1) {
      throw new IllegalArgumentException("maxConnections " + maxConnections + " is under 1");
    }
    if (maxRequestBytes < 1 || maxRequestBytes > Integer.MAX_VALUE - MAX_JSON_BYTES) {
      throw new IllegalArgumentException(
          "maxRequestBytes "
              + maxRequestBytes
              + " is not from 1 to "
              + (Integer.MAX_VALUE - MAX_JSON_BYTES));
    }
    if (maxBufferedBytes < maxRequestBytes + MAX_JSON_BYTES) {
      throw new IllegalArgumentException(
          "maxBufferedBytes "
              + maxBufferedBytes
              + " is under "
              + (maxRequestBytes + MAX_JSON_BYTES)
              + ", the body of one request");
    }
  }

  /** The most bytes of one request's body. */
  int maxBodyBytes() {
    return (int) maxRequestBytes + MAX_JSON_BYTES;
  }
}
