package io.prmalloc.example;

/**
 * How a server is run.
 *
 * @param memory where buffers and tensors come from
 * @param port on the loopback address; 0 for any free one
 * @param workers threads that run models, from 1
 * @param maxRequestBytes the most bytes of one request's tensors, and of its body
 */
public record ServerOptions(MemoryKind memory, int port, int workers, long maxRequestBytes) {

  /** The most bytes of JSON in one request. */
  static final int MAX_JSON_BYTES = 1 << 20;

  /** Requests that may wait for a worker; those beyond are told to come back. */
  static final int MAX_WAITING = 256;

  /** 64 MiB. */
  public static final long DEFAULT_MAX_REQUEST_BYTES = 64L << 20;
}
