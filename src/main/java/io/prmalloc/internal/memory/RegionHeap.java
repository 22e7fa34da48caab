package io.prmalloc.internal.memory;

import io.prmalloc.AllocatorStats;
import io.prmalloc.Chunk;
import io.prmalloc.MemoryRegion;
import io.prmalloc.OutOfNativeMemoryException;
import io.prmalloc.SubAllocator;
import io.prmalloc.internal.block.Block;
import io.prmalloc.internal.block.BlockIsolation;
import io.prmalloc.internal.block.HeapBlock;
import io.prmalloc.internal.block.Requests;
import io.prmalloc.internal.jfr.FlightEvents;
import java.util.ArrayList;
import java.util.List;
import org.agrona.collections.Long2ObjectHashMap;

/**
 * Serves each request by a region of its own, straight from a {@link SubAllocator}. For authors of
 * allocators.
 *
 * <p>Threading: every method may be called from any thread. The table of blocks and the counters
 * are read and written under one lock, and the system is called outside it.
 */
public final class RegionHeap {

  /** Told of every block that comes back, before its memory goes. */
  @FunctionalInterface
  public interface ReleaseListener {
    /**
     * Threading: the thread that releases.
     *
     * @param ticket what was given to {@link #acquire}
     */
    void released(Object ticket);
  }

  private final DeferredFreeSubAllocator source;
  private final BlockIsolation isolation;
  private final ReleaseListener listener;

  private final Object lock = new Object();
  private final Long2ObjectHashMap<HeapBlock> byRawAddress = new Long2ObjectHashMap<>();
  private HeapBlock first;
  private long lastId;
  private long totalAllocs;
  private long allocsBeforeClear;
  private long bytesInUse;
  private long peakBytesInUse;
  private long largestAllocSize;
  private long peakBytesReserved;
  private long liveBlocks;
  private boolean closed;

  /**
   * Threading: any thread.
   *
   * @param source where the regions come from
   * @param listener told of every block with a ticket that comes back
   */
  public RegionHeap(SubAllocator source, ReleaseListener listener) {
    this(source, BlockIsolation.NONE, listener);
  }

  /**
   * Threading: any thread.
   *
   * @param source where the regions come from; what it refuses to take back is kept and tried again
   * @param isolation of the blocks; room for it is added to what is asked for
   * @param listener told of every block with a ticket that comes back
   */
  public RegionHeap(SubAllocator source, BlockIsolation isolation, ReleaseListener listener) {
    this.source = new DeferredFreeSubAllocator(source);
    this.isolation = isolation;
    this.listener = listener;
  }

  /** How the blocks are isolated. Threading: any thread. */
  public BlockIsolation isolation() {
    return isolation;
  }

  /**
   * Takes a block. The caller starts its use with {@link Block#open} or {@link Block#openRaw}, with
   * the same number of bytes.
   *
   * <p>Threading: any thread.
   *
   * @param bytes how many bytes the user asked for, from 0
   * @param alignment a power of two for the user's first byte
   * @param headerBytes bytes in front of the user's, a multiple of the alignment; 0 for none
   * @param ticket given to the listener when the block comes back, or null
   * @throws OutOfNativeMemoryException if the memory is not available
   * @throws IllegalStateException if the heap is closed, or a header is asked for and this JVM
   *     cannot tell addresses
   */
  public Block acquire(long bytes, long alignment, int headerBytes, Object ticket) {
    // No bytes take one: the address behind a header must lie in the region, to be unique.
    long capacity = Math.max(1, bytes) + headerBytes + isolation.roomBytes();
    long start = FlightEvents.outsideAllocationStart();
    MemoryRegion region = source.alloc(alignment, capacity);
    try {
      FlightEvents.outsideAllocation(start, bytes, alignment);
      boolean large = Requests.isLarge(capacity);
      HeapBlock block =
          new HeapBlock(region, large ? BlockIsolation.NONE : isolation, this::giveBack, ticket);
      if (large) {
        block.beginLarge(bytes);
      }
      if (headerBytes > 0) {
        block.rawAddress = region.address() + headerBytes;
      }
      link(block, bytes);
      return block;
    } catch (Throwable e) {
      source.free(region);
      throw e;
    }
  }

  /**
   * The block behind a raw address, or null if there is none. Reads nothing from the address.
   *
   * <p>Threading: any thread.
   */
  public Block findRaw(long address) {
    synchronized (lock) {
      return byRawAddress.get(address);
    }
  }

  /** The block that holds an address given out by it, raw or a handle's, or null. */
  private HeapBlock at(long address) {
    HeapBlock raw = byRawAddress.get(address);
    if (raw != null) {
      return raw;
    }
    // The addresses of handles are not kept, and may not even be known: a walk.
    for (HeapBlock block = first; block != null; block = block.next) {
      if (block.rawAddress == 0 && block.region().address() == address) {
        return block;
      }
    }
    return null;
  }

  /**
   * What is known of the memory at an address, or null if it is not allocated. Costs a walk if it
   * is not a raw address. Reads nothing from the address.
   *
   * <p>Threading: any thread.
   *
   * @param address a raw address or that of a handle
   * @throws IllegalStateException if this JVM cannot tell addresses
   */
  public Chunk chunkAt(long address) {
    synchronized (lock) {
      HeapBlock block = at(address);
      return block == null
          ? null
          : new Chunk(block.requestedBytes(), block.reservedBytes(), block.allocationId);
    }
  }

  /**
   * {@link MemoryRegion#usableBytes} of the block at an address, or 0 if it is not allocated; as
   * {@link #chunkAt}.
   *
   * <p>Threading: any thread.
   *
   * @throws IllegalStateException if this JVM cannot tell addresses
   */
  public long usableBytesAt(long address) {
    synchronized (lock) {
      HeapBlock block = at(address);
      return block == null ? 0 : block.region().usableBytes();
    }
  }

  /**
   * The next number of those that this heap's allocations are numbered with, from 1: for code that
   * gives out memory beside this heap.
   *
   * <p>Threading: any thread.
   */
  public long nextId() {
    synchronized (lock) {
      return ++lastId;
    }
  }

  private void giveBack(HeapBlock block) {
    try {
      if (block.ticket() != null) {
        listener.released(block.ticket());
      }
    } finally {
      unlink(block);
      source.free(block.region());
    }
  }

  private void link(HeapBlock block, long bytes) {
    synchronized (lock) {
      if (closed) {
        throw new IllegalStateException("allocator is closed");
      }
      // First, for it may find no heap; and before it nothing has changed.
      if (block.rawAddress != 0) {
        byRawAddress.put(block.rawAddress, block);
      }
      block.next = first;
      if (first != null) {
        first.previous = block;
      }
      first = block;
      liveBlocks++;
      totalAllocs++;
      block.allocationId = ++lastId;
      bytesInUse += bytes;
      peakBytesInUse = Math.max(peakBytesInUse, bytesInUse);
      largestAllocSize = Math.max(largestAllocSize, bytes);
      peakBytesReserved = Math.max(peakBytesReserved, source.bytesReserved());
    }
  }

  private void unlink(HeapBlock block) {
    synchronized (lock) {
      if (block.previous != null) {
        block.previous.next = block.next;
      } else {
        first = block.next;
      }
      if (block.next != null) {
        block.next.previous = block.previous;
      }
      if (block.rawAddress != 0) {
        byRawAddress.remove(block.rawAddress);
      }
      liveBlocks--;
      bytesInUse -= block.requestedBytes();
    }
  }

  /**
   * Allocates nothing more, if nothing is allocated.
   *
   * <p>Threading: any thread.
   *
   * @return whether the heap is closed now; if not, nothing has changed
   */
  public boolean close() {
    synchronized (lock) {
      closed |= liveBlocks == 0;
      return closed;
    }
  }

  /**
   * Gives back what the system refused to take before: for an allocator that is closed.
   *
   * <p>Threading: any thread.
   *
   * @param allocator its name, for the message
   * @throws IllegalStateException if something is still refused
   */
  public void returnAll(String allocator) {
    source.returnAll(allocator);
  }

  /**
   * Takes note of what the sub-allocator has reserved, for the peak in {@link #stats}: for code
   * that takes memory from it beside this heap.
   *
   * <p>Threading: any thread.
   */
  public void noteReserved() {
    synchronized (lock) {
      peakBytesReserved = Math.max(peakBytesReserved, source.bytesReserved());
    }
  }

  /** Blocks that are allocated. Threading: any thread. */
  public long liveBlocks() {
    synchronized (lock) {
      return liveBlocks;
    }
  }

  /** Blocks that were given out since the start. Threading: any thread. */
  public long totalAllocs() {
    synchronized (lock) {
      return totalAllocs;
    }
  }

  /** A number that goes up with every allocation and release. Threading: any thread. */
  public long changes() {
    synchronized (lock) {
      return 2 * totalAllocs - liveBlocks;
    }
  }

  /**
   * What is in use and was; reserved bytes are those of the whole sub-allocator. Threading: any
   * thread.
   */
  public AllocatorStats stats() {
    synchronized (lock) {
      // Read once, for other users of the sub-allocator do not stop meanwhile.
      long reserved = source.bytesReserved();
      peakBytesReserved = Math.max(peakBytesReserved, reserved);
      return new AllocatorStats(
          totalAllocs - allocsBeforeClear,
          bytesInUse,
          peakBytesInUse,
          largestAllocSize,
          source.bytesLimit(),
          reserved,
          peakBytesReserved);
    }
  }

  /**
   * Lets {@link #stats} begin anew: no allocations, peaks of what there is now.
   *
   * <p>Threading: any thread.
   */
  public void clearStats() {
    synchronized (lock) {
      allocsBeforeClear = totalAllocs;
      peakBytesInUse = bytesInUse;
      largestAllocSize = 0;
      peakBytesReserved = source.bytesReserved();
    }
  }

  /**
   * Allocates nothing more and gives back every block that is still allocated; handles on them are
   * closed from then on.
   *
   * <p>Threading: any thread, when the memory is no longer in use.
   */
  public void closeForcibly() {
    List<HeapBlock> live = new ArrayList<>();
    synchronized (lock) {
      closed = true;
      for (HeapBlock block = first; block != null; block = block.next) {
        live.add(block);
      }
    }
    isolation.close();
    for (HeapBlock block : live) {
      if (block.revoke()) {
        giveBack(block);
      }
    }
  }
}
