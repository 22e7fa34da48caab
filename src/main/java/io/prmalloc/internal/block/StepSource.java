package io.prmalloc.internal.block;

/**
 * The allocator behind the steps of a planner. For authors of allocators.
 *
 * <p>Threading: any thread.
 */
public interface StepSource {

  /**
   * A step opens on the calling thread. This one does not look.
   *
   * <p>Threading: any thread.
   *
   * @param key the user's key of the step's shape, or null
   * @return run once, by the thread that closes the step; null for nothing
   */
  default Runnable opened(Object key) {
    return null;
  }

  /**
   * Memory for a step that makes its first request.
   *
   * <p>Threading: any thread; the calling thread owns the memory from then on.
   *
   * @param key the user's key of the step's shape, or null
   * @param firstBytes the size of that request, not checked yet
   */
  StepMemory lease(Object key, long firstBytes);

  /**
   * A free block for a request that no step answers for: its thread is not the step's.
   *
   * <p>Threading: any thread.
   *
   * @param alignment a power of two
   * @throws io.prmalloc.OutOfNativeMemoryException if there is no memory
   * @throws IllegalArgumentException if the size or the alignment is out of its bounds
   */
  Block takeShared(long bytes, long alignment);

  /**
   * An address for such a request; 0 if there is no memory.
   *
   * <p>Threading: any thread.
   *
   * @throws IllegalArgumentException if the size is out of its bounds
   */
  long takeSharedRaw(long bytes);

  /**
   * Frees an address, whatever allocated it.
   *
   * <p>Threading: any thread.
   *
   * @throws IllegalArgumentException if it is not the allocator's, or is already freed
   */
  void releaseShared(long address);
}
