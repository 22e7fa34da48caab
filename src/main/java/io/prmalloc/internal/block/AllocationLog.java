package io.prmalloc.internal.block;

import io.prmalloc.Allocation;
import io.prmalloc.AllocationAttributes;
import io.prmalloc.Allocator;
import io.prmalloc.Chunk;
import io.prmalloc.OutOfNativeMemoryException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Writes allocations whose {@link AllocationAttributes} ask for it, and their release, to the
 * {@link System.Logger} named {@value #LOGGER_NAME} at level {@code DEBUG}:
 *
 * <pre>
 * allocated id=7 requested=100 allocated=112 allocator=tensorpool_cpu step=12 label=conv1/out
 * released id=7 requested=100 allocated=112 allocator=tensorpool_cpu step=12 label=conv1/out
 * </pre>
 *
 * <p>The id is the {@link Allocator#allocationId}; it is 0 if the allocator has none, or if this
 * JVM cannot tell addresses. If an allocator does not track sizes, the allocated bytes of a raw
 * address are the requested ones.
 *
 * <p>For authors of allocators; users set the attribute. After TensorFlow's {@code LogMemory}.
 *
 * <p>Threading: any thread.
 */
public final class AllocationLog {

  // A release is logged although deallocateRaw and close do not check whether it should be. A
  // logged handle wraps the allocator's handle and logs when it is closed. A logged raw address is
  // the address of such a handle, kept here. It has no header, so the allocator takes it for an
  // address that it never allocated, which is a rare path; there it calls release() before it
  // throws.
  //
  // While the level is off, attributes that ask for the log change nothing.

  /** Name of the logger. */
  public static final String LOGGER_NAME = "io.prmalloc.allocation";

  private static final Logger LOGGER = System.getLogger(LOGGER_NAME);
  private static final Level LEVEL = Level.DEBUG;

  /** The fields that are logged of one allocation, at its begin and at its end. */
  private record Entry(Allocation inner, Chunk chunk, String allocator, long step, String label) {
    void log(String event) {
      LOGGER.log(
          LEVEL,
          () ->
              event
                  + " id="
                  + chunk.allocationId()
                  + " requested="
                  + chunk.requestedBytes()
                  + " allocated="
                  + chunk.allocatedBytes()
                  + " allocator="
                  + allocator
                  + " step="
                  + step
                  + " label="
                  + label);
    }
  }

  private final ConcurrentHashMap<Long, Allocation> rawHandles = new ConcurrentHashMap<>();

  /** A log for one allocator's raw addresses. Threading: any thread. */
  public AllocationLog() {}

  private static boolean isOn(AllocationAttributes attributes) {
    return attributes.allocationWillBeLogged() && LOGGER.isLoggable(LEVEL);
  }

  /** {@link Allocator#allocate(long, long, AllocationAttributes)} of any allocator. */
  public static Allocation allocate(
      Allocator allocator, long bytes, long alignment, AllocationAttributes attributes) {
    Allocation handle = Retry.allocate(allocator, bytes, alignment, attributes);
    if (!isOn(attributes)) {
      return handle;
    }
    Allocation result = handle;
    try {
      Chunk chunk = new Chunk(bytes, handle.blockBytes(), idOf(allocator, handle.addressOrZero()));
      Entry entry = entry(handle, chunk, allocator, attributes);
      result = HeapBlock.around(handle, AllocationLog::released, entry);
      entry.log("allocated");
      return result;
    } catch (Throwable e) {
      result.close();
      throw e;
    }
  }

  private static Entry entry(
      Allocation inner, Chunk chunk, Allocator allocator, AllocationAttributes attributes) {
    return new Entry(inner, chunk, allocator.name(), attributes.stepId(), attributes.label());
  }

  private static long idOf(Allocator allocator, long address) {
    return address == 0 ? 0 : allocator.allocationId(address);
  }

  private static void released(HeapBlock block) {
    Entry entry = (Entry) block.ticket();
    entry.inner().close();
    entry.log("released");
  }

  /**
   * {@link Allocator#allocateRaw(long, long, AllocationAttributes)} of an allocator that does not
   * know of logs: the release will not be logged.
   */
  public static long allocateRawOnly(
      Allocator allocator, long alignment, long bytes, AllocationAttributes attributes) {
    long address = Retry.allocateRaw(allocator, alignment, bytes, attributes);
    if (address != 0 && isOn(attributes)) {
      long allocatedBytes =
          allocator.tracksAllocationSizes() ? allocator.allocatedSize(address) : bytes;
      Chunk chunk = new Chunk(bytes, allocatedBytes, idOf(allocator, address));
      entry(null, chunk, allocator, attributes).log("allocated");
    }
    return address;
  }

  /**
   * Implements {@link Allocator#allocateRaw(long, long, AllocationAttributes)}.
   *
   * <p>Threading: any thread.
   *
   * @param allocator whose log this is; must ask {@link #release} before it refuses an address
   * @return the address, or 0 if there is no memory
   * @throws IllegalArgumentException as that method does
   * @throws IllegalStateException as that method does
   */
  public long allocateRaw(
      Allocator allocator, long alignment, long bytes, AllocationAttributes attributes) {
    if (!isOn(attributes)) {
      return Retry.allocateRaw(allocator, alignment, bytes, attributes);
    }
    Allocation handle;
    try {
      handle = allocate(allocator, bytes, alignment, attributes);
    } catch (OutOfNativeMemoryException notToBeHad) {
      return 0;
    }
    try {
      long address = handle.address();
      rawHandles.put(address, handle);
      return address;
    } catch (Throwable e) {
      handle.close();
      throw e;
    }
  }

  /**
   * Gives back memory whose raw address {@link #allocateRaw} returned while the log was on.
   *
   * <p>Threading: any thread; of several one wins.
   *
   * @return how many bytes were asked for; −1, and nothing has changed, if the address is not of
   *     such memory
   */
  public long release(long address) {
    Allocation handle = rawHandles.remove(address);
    if (handle == null) {
      return -1;
    }
    long bytes = handle.sizeBytes();
    handle.close();
    return bytes;
  }

  /**
   * Forgets the addresses that are still allocated: for an allocator that is closed by force.
   *
   * <p>Threading: any thread.
   */
  public void forget() {
    rawHandles.clear();
  }
}
