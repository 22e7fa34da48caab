package io.prmalloc;

import io.prmalloc.element.ElementType;
import io.prmalloc.element.ElementTypes;
import io.prmalloc.element.TypedAllocation;
import io.prmalloc.internal.block.AllocationLog;

/**
 * Gives out off-heap memory, as checked handles or as raw addresses.
 *
 * <p>Handles ({@link #allocate(long)}) are for general use: closed in a try-with-resources, checked
 * against double close and use after close, and need no JVM flag. Raw addresses ({@link
 * #allocateRaw}) are for code that hands memory to native libraries and tracks it itself; they
 * carry a header in front of the address and are given back by address.
 *
 * <p>What is more than 2 GiB − 1 bytes, header included, is more than one buffer can show. It has a
 * mapping of its own, whatever the allocator's memory is else, is reached by its address, and costs
 * memory page by page as it is touched. Limits of the sub-allocator count it; the JVM's {@code
 * MaxDirectMemorySize} does not.
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
   * @param bytes how many bytes, from 0 (a valid handle on no bytes) to 2^47
   * @return a handle, to be closed once
   * @throws IllegalArgumentException if {@code bytes} is negative or over 2^47
   * @throws OutOfNativeMemoryException if the memory is not available
   * @throws UnsupportedOperationException if it is over 2 GiB − 1 and nothing can be mapped here;
   *     the message says why
   * @throws IllegalStateException if this allocator is closed
   */
  Allocation allocate(long bytes);

  /**
   * Takes memory with an alignment. The bytes are not zeroed.
   *
   * <p>Threading: any thread.
   *
   * @param bytes how many bytes, from 0 (a valid handle on no bytes) to 2^47
   * @param alignment a power of two; the first byte's address is a multiple of it
   * @return a handle, to be closed once
   * @throws IllegalArgumentException if {@code bytes} is negative or over 2^47, or {@code
   *     alignment} not a power of two
   * @throws UnsupportedOperationException as {@link #allocate(long)}
   * @throws OutOfNativeMemoryException if the memory is not available
   * @throws IllegalStateException if this allocator is closed
   */
  Allocation allocate(long bytes, long alignment);

  /**
   * Takes memory as the attributes say. The bytes are not zeroed.
   *
   * <p>Threading: any thread. With a deadline the calling thread waits, with a look every 2 ms or
   * more often; if it is interrupted it stops waiting, tries once more, and stays interrupted.
   *
   * @param bytes how many bytes, from 0 (a valid handle on no bytes) to 2^47
   * @param alignment a power of two; the first byte's address is a multiple of it
   * @param attributes what to do if the memory is not available at once, and whether to log
   * @return a handle, to be closed once
   * @throws IllegalArgumentException if {@code bytes} is negative or over 2^47, or {@code
   *     alignment} not a power of two
   * @throws UnsupportedOperationException as {@link #allocate(long)}
   * @throws OutOfNativeMemoryException if the memory is not available, at the last attempt
   * @throws IllegalStateException if this allocator is closed
   */
  default Allocation allocate(long bytes, long alignment, AllocationAttributes attributes) {
    return AllocationLog.allocate(this, bytes, alignment, attributes);
  }

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
   * @throws OutOfNativeMemoryException if the memory is not available
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
   * @param bytes how many bytes, from 0 (an address of its own all the same) to 2^47
   * @return the address, or 0 where the memory is not available
   * @throws IllegalArgumentException if {@code bytes} is negative or over 2^47, or {@code
   *     alignment} not a power of two
   * @throws UnsupportedOperationException as {@link #allocate(long)}
   * @throws IllegalStateException if this allocator is closed, or if this JVM cannot tell
   *     addresses; the message then holds the flag that helps
   */
  long allocateRaw(long alignment, long bytes);

  /**
   * Takes memory as the attributes say and gives its address. The bytes are not zeroed.
   *
   * <p>An allocator that does not override this logs the allocation, but not its release.
   *
   * <p>Threading: as {@link #allocate(long, long, AllocationAttributes)}.
   *
   * @param alignment a power of two; the address is a multiple of it
   * @param bytes as in {@link #allocateRaw(long, long)}
   * @param attributes what to do if the memory is not available at once, and whether to log
   * @return the address, or 0 where the memory is not available, at the last attempt
   * @throws IllegalArgumentException as {@link #allocateRaw(long, long)}
   * @throws IllegalStateException as {@link #allocateRaw(long, long)}
   */
  default long allocateRaw(long alignment, long bytes, AllocationAttributes attributes) {
    return AllocationLog.allocateRawOnly(this, alignment, bytes, attributes);
  }

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
   * Whether {@link #requestedSize} and {@link #allocatedSize} know their answers. Never changes.
   *
   * <p>Threading: any thread.
   */
  default boolean tracksAllocationSizes() {
    return false;
  }

  /**
   * Whether a tensor without elements is to be given memory all the same, so that somebody sees it.
   * Never changes.
   *
   * <p>Threading: any thread.
   */
  default boolean shouldAllocateEmptyTensors() {
    return false;
  }

  /**
   * Bytes that were asked for at an address.
   *
   * <p>Threading: any thread.
   *
   * @param address what {@link #allocateRaw} or {@link Allocation#address} returned, still
   *     allocated
   * @throws IllegalArgumentException if it is not allocated; nothing is read from the address
   * @throws UnsupportedOperationException if this allocator does not track sizes
   */
  default long requestedSize(long address) {
    throw new UnsupportedOperationException("allocator " + name() + " does not track sizes");
  }

  /**
   * Bytes set aside for the memory at an address, header and rounding included: at least {@link
   * #requestedSize}.
   *
   * <p>Threading: any thread.
   *
   * @param address what {@link #allocateRaw} or {@link Allocation#address} returned, still
   *     allocated
   * @throws IllegalArgumentException if it is not allocated; nothing is read from the address
   * @throws UnsupportedOperationException if this allocator does not track sizes
   */
  default long allocatedSize(long address) {
    throw new UnsupportedOperationException("allocator " + name() + " does not track sizes");
  }

  /**
   * Which allocation the memory at an address is. Ids are positive, are different for any two
   * allocations of this allocator, and stay the same while the memory is allocated; asked after
   * every allocation, they are 1, 2, 3 and so on.
   *
   * <p>Threading: any thread.
   *
   * @param address what {@link #allocateRaw} or {@link Allocation#address} returned, still
   *     allocated
   * @return the id, or 0 if this allocator has none
   * @throws IllegalArgumentException if this allocator has ids and the address is not allocated;
   *     nothing is read from it
   */
  default long allocationId(long address) {
    return 0;
  }

  /**
   * As {@link #allocatedSize}, even if it is not tracked, and as exactly as can be told: where the
   * memory comes from a malloc, that is asked ({@code malloc_usable_size}). May cost a native call.
   *
   * <p>Threading: any thread.
   *
   * @param address what {@link #allocateRaw} or {@link Allocation#address} returned, still
   *     allocated
   * @return bytes, or 0 if they are not known
   * @throws IllegalArgumentException if sizes are known here and the address is not allocated
   */
  default long allocatedSizeSlow(long address) {
    return tracksAllocationSizes() ? allocatedSize(address) : 0;
  }

  /**
   * A consistent picture of what this allocator holds. Costs a walk over its blocks: for
   * monitoring, not for every request.
   *
   * <p>Threading: any thread.
   */
  AllocatorStats stats();

  /**
   * Lets {@link #stats} begin anew: no allocations yet, none of them largest, peaks of what is in
   * use and reserved now. What is in use stays.
   *
   * <p>Threading: any thread; requests of the same moment are counted before or after it.
   *
   * @return false if this allocator cannot; nothing has changed then
   */
  default boolean clearStats() {
    return false;
  }

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
