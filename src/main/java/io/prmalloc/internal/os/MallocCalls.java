package io.prmalloc.internal.os;

/**
 * The three functions of a malloc that a region needs: the C library's, or those of a library that
 * was loaded by name. Failures are told by number, as {@link NativeCalls} says.
 *
 * <p>Threading: any thread; memory may be freed by another thread than the one that took it.
 */
interface MallocCalls {

  /**
   * Takes memory.
   *
   * @param alignment a power of two, at least 8
   * @param bytes how many bytes; of 0 the C library makes an address of its own
   * @return the address, or a negated error number
   * @throws UnsupportedOperationException if native calls are out of reach
   */
  long posixMemalign(long alignment, long bytes);

  /**
   * Gives back memory from {@link #posixMemalign}. 0 is ignored.
   *
   * @throws UnsupportedOperationException if native calls are out of reach
   */
  void free(long address);

  /**
   * Bytes that may be used at an address from {@link #posixMemalign}: at least those asked for. 0
   * for address 0, and where a library does not tell.
   *
   * @throws UnsupportedOperationException if native calls are out of reach
   */
  long mallocUsableSize(long address);
}
