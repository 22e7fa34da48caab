package io.prmalloc.example;

/** Where the server's memory comes from: our pool, Netty's, or direct buffers. */
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
