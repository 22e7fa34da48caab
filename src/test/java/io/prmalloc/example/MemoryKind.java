package io.prmalloc.example;

/** What the server's memory is: ours, and what people use without it. */
public enum MemoryKind {
  /**
   * A new direct buffer for each tensor, left to the collector; Netty's own pool for the network.
   */
  DIRECT,
  /** Netty's own pool for both. */
  NETTY,
  /** Our pool for both. */
  POOL
}
