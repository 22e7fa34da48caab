package io.prmalloc.trace.replay.lane;

/**
 * Through which face of our own allocators a replay goes. Others have only addresses.
 *
 * <p>Threading: immutable.
 */
public enum Api {
  /** Raw addresses: {@code allocateRaw} and {@code deallocateRaw}. */
  RAW,
  /**
   * Handles: {@code allocate} and {@code close}, touched through their byte buffers. A replay keeps
   * the handles in an array, so the JIT cannot do away with them: each costs 32 bytes of heap.
   */
  HANDLE
}
