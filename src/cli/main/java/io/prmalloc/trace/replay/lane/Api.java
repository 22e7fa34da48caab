package io.prmalloc.trace.replay.lane;

/**
 * The API of our own allocators that a replay uses. Other allocators have only addresses.
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
