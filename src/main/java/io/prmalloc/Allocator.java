package io.prmalloc;

/**
 * Gives out off-heap memory, as checked handles or as raw addresses.
 *
 * <p>Handles ({@link #allocate(long)}) are for everybody: closed in a try-with-resources, checked
 * against double close and use after close, and need no JVM flag. Raw addresses ({@link
 * #allocateRaw}) are for code that hands memory to native libraries and keeps its own books; they
 * carry a header in front of the address and are given back by address.
 *
 * <p>Modelled on the {@code Allocator} of TensorFlow's {@code core/framework}.
 *
 * <p>Threading: every method of every allocator may be called from any thread at any time, and
 * memory may be given back by another thread than the one that took it.
 */
public interface Allocator extends AutoCloseable {

  /** Alignment in bytes of memory for which none is asked: a cache line. */
  long DEFAULT_ALIGNMENT = 64;

  /**
   * The name under which people know this allocator, such as {@code tensorpool_cpu}. Not unique.
   *
   * <p>Threading: any thread.
   */
  String name();

  /**
   * Takes memory aligned to {@link #DEFAULT_ALIGNMENT}. The bytes are not zeroed.
   *
   * <p>Threading: any thread.
   *
   * @param bytes how many bytes, from 0 (a valid handle on no bytes) to 2 GiB − 1
   * @return a handle, to be closed once
   * @throws IllegalArgumentException if {@code bytes} is negative or over 2 GiB − 1
   * @throws OutOfNativeMemoryException if the memory is not to be had
   * @throws IllegalStateException if this allocator is closed
   */
  Allocation allocate(long bytes);

  /**
   * Takes memory with an alignment. The bytes are not zeroed.
   *
   * <p>Threading: any thread.
   *
   * @param bytes how many bytes, from 0 (a valid handle on no bytes) to 2 GiB − 1
   * @param alignment a power of two; the first byte's address is a multiple of it
   * @return a handle, to be closed once
   * @throws IllegalArgumentException if {@code bytes} is negative, {@code alignment} not a power of
   *     two, or both together over 2 GiB − 1
   * @throws OutOfNativeMemoryException if the memory is not to be had
   * @throws IllegalStateException if this allocator is closed
   */
  Allocation allocate(long bytes, long alignment);

  /**
   * Takes memory for elements of a type, and begins each of them unless the type is trivial; those
   * of a trivial type hold anything. Closing ends them.
   *
   * <p>If the beginning of one fails, those before it end, the memory goes back, and the exception
   * goes on.
   *
   * <p>Threading: any thread.
   *
   * @param type what the elements are, for instance one of {@link ElementTypes}
   * @param count how many, from 0; together at most 2 GiB − 1 bytes
   * @return a handle, to be closed once
   * @throws IllegalArgumentException if {@code count} is negative, or so many elements are more
   *     than 2 GiB − 1 bytes
   * @throws OutOfNativeMemoryException if the memory is not to be had
   * @throws IllegalStateException if this allocator is closed
   */
  default <T> TypedAllocation<T> allocate(ElementType<T> type, long count) {
    return TypedAllocation.allocate(this, type, count);
  }

  /**
   * Takes memory and gives its address. The bytes are not zeroed.
   *
   * <p>Threading: any thread.
   *
   * @param alignment a power of two; the address is a multiple of it
   * @param bytes how many bytes, from 0 (an address of its own all the same) up; with header and
   *     alignment at most 2 GiB − 1
   * @return the address, or 0 where the memory is not to be had
   * @throws IllegalArgumentException if {@code bytes} is negative, {@code alignment} not a power of
   *     two, or both together over 2 GiB − 1
   * @throws IllegalStateException if this allocator is closed, or if this JVM cannot tell
   *     addresses; the message then holds the flag that helps
   */
  long allocateRaw(long alignment, long bytes);

  /**
   * Gives back memory from {@link #allocateRaw}.
   *
   * <p>Threading: any thread.
   *
   * @param address what {@link #allocateRaw} returned; 0 is ignored
   * @throws IllegalArgumentException if the address is not of this allocator, or was given back
   *     before; nothing is read from the address then
   * @throws CorruptedHeaderException if the bytes in front of the address were overwritten; the
   *     memory stays taken
   */
  void deallocateRaw(long address);

  /**
   * A consistent picture of what this allocator holds. Costs a walk over its blocks: for
   * monitoring, not for every request.
   *
   * <p>Threading: any thread.
   */
  AllocatorStats stats();

  /**
   * Gives every byte back to the system. Closing a closed allocator does nothing.
   *
   * <p>Threading: any thread.
   *
   * @throws IllegalStateException if memory is still in use; the message says how many allocations
   *     and bytes, and the allocator goes on as before
   */
  @Override
  void close();
}
