package io.prmalloc.arrow;

import io.prmalloc.Allocation;
import io.prmalloc.Allocator;
import io.prmalloc.OutOfNativeMemoryException;
import java.util.Objects;
import org.apache.arrow.memory.AllocationManager;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.OutOfMemoryException;
import org.apache.arrow.memory.ReferenceManager;

/**
 * The memory of one Arrow buffer, taken from an {@link Allocator}.
 *
 * <p>Arrow rounds what it is asked for before it asks here, by default up to a power of two where
 * that is at most 16 MiB. A piece of more than 2 GiB − 1 bytes is mapped memory, whatever the
 * allocator's is else. Arrow works with addresses, so this JVM must be able to tell them: through
 * JNA, or with the flag of the message.
 *
 * <p>Threading: as Arrow's: any thread; memory goes back once, with the last reference.
 */
public final class PrmallocAllocationManager extends AllocationManager {

  private final Allocation allocation;
  private final long address;

  private PrmallocAllocationManager(
      BufferAllocator accountingAllocator, Allocation allocation, long address) {
    super(accountingAllocator);
    this.allocation = allocation;
    this.address = address;
  }

  /**
   * What {@code RootAllocator}'s configuration is to be given. Arrow's own memory module ({@code
   * arrow-memory-unsafe} or {@code -netty}) must be on the class path all the same: Arrow looks for
   * it whether it is used or not.
   *
   * <p>What it makes throws Arrow's {@code OutOfMemoryException} if the memory is not available;
   * Arrow's accounts are as before then.
   *
   * <p>Threading: any thread.
   *
   * @param memory where Arrow's memory comes from; stays the caller's, to be closed after the
   *     {@code RootAllocator}
   * @throws NullPointerException if {@code memory} is null
   */
  public static AllocationManager.Factory factory(Allocator memory) {
    return new Factory(Objects.requireNonNull(memory, "memory"));
  }

  @Override
  protected long memoryAddress() {
    return address;
  }

  @Override
  protected void release0() {
    allocation.close();
  }

  /** Bytes of this piece, as Arrow asked for them. Threading: any thread. */
  @Override
  public long getSize() {
    return allocation.sizeBytes();
  }

  private record Factory(Allocator memory) implements AllocationManager.Factory {

    @Override
    public AllocationManager create(BufferAllocator accountingAllocator, long size) {
      Allocation taken = take(size);
      try {
        return new PrmallocAllocationManager(accountingAllocator, taken, taken.address());
      } catch (Throwable e) {
        taken.close();
        throw e;
      }
    }

    private Allocation take(long size) {
      try {
        return memory.allocate(size);
      } catch (OutOfNativeMemoryException | UnsupportedOperationException refused) {
        throw new OutOfMemoryException(refused.getMessage(), refused);
      }
    }

    /** A buffer of no bytes: it has no memory, and references to it are not counted. */
    @Override
    public ArrowBuf empty() {
      return new ArrowBuf(ReferenceManager.NO_OP, null, 0, 0);
    }
  }
}
