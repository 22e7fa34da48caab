package io.prmalloc.pool;

import io.prmalloc.OutOfNativeMemoryException;
import io.prmalloc.internal.block.AddressDirectory;
import io.prmalloc.internal.block.Block;
import io.prmalloc.internal.block.HeaderDescriptor;
import io.prmalloc.internal.block.HeapBlock;
import io.prmalloc.internal.block.Requests;
import io.prmalloc.internal.freelist.PooledBlock;
import java.nio.ByteBuffer;
import java.util.function.LongUnaryOperator;

/**
 * The pool's memory by its addresses: a header is written when an address is allocated and checked
 * when it is freed.
 *
 * <p>Threading: any thread.
 */
final class RawAddresses {

  // The owner of an address is known from the address alone, before anything is read from it:
  // arena, slabs and the regions of the heap are looked up in tables.

  private final TensorPoolAllocator pool;
  private final AddressDirectory directory;
  private final LongUnaryOperator elsewhere;

  /**
   * @param elsewhere takes an address back that has no header of ours in front; how many bytes were
   *     asked for, less than 0 if it is not out
   */
  RawAddresses(TensorPoolAllocator pool, AddressDirectory directory, LongUnaryOperator elsewhere) {
    this.pool = pool;
    this.directory = directory;
    this.elsewhere = elsewhere;
  }

  /** As {@link TensorPoolAllocator#allocateRaw(long, long)}. */
  long allocate(long alignment, long bytes) {
    Requests.checkAlignment(alignment);
    int header = (int) Math.max(HeaderDescriptor.FULL_BYTES, alignment);
    Requests.checkBytes(bytes);
    if (!directory.isEnabled()) {
      directory.enable();
    }
    try {
      return openRaw((int) alignment, bytes, header);
    } catch (OutOfNativeMemoryException notToBeHad) {
      return 0;
    }
  }

  private long openRaw(int alignment, long bytes, int header) {
    int smallHeader = Math.max(HeaderDescriptor.LIGHT_BYTES, alignment);
    // The address of no bytes must lie inside its block too, for there it is looked up.
    int smallRoom = bytes == 0 ? smallHeader + 1 : smallHeader;
    boolean large = Requests.isLarge(bytes + header);
    Block block = large ? null : pool.takeReady(bytes, alignment, smallRoom, header);
    if (block == null) {
      long ofStep = large ? 0 : pool.takeRawOfStep(bytes, alignment);
      if (ofStep != 0) {
        return ofStep;
      }
      block = pool.takeSlowly(bytes, alignment, smallRoom, header);
    }
    return open(block, bytes, smallHeader, header);
  }

  /** {@link #allocate} outside the pool; the ticket is as in {@link SlowPath#takeOutside}. */
  long allocateOutside(long bytes, Object ticket) {
    int header = HeaderDescriptor.FULL_BYTES;
    if (!directory.isEnabled()) {
      directory.enable();
    }
    try {
      Block block = pool.takeOutside(bytes, header, ticket);
      return open(block, bytes, header, header);
    } catch (OutOfNativeMemoryException notToBeHad) {
      return 0;
    }
  }

  private static long open(Block block, long bytes, int smallHeader, int header) {
    return block instanceof PooledBlock pooled
        ? openPooled(pooled, (int) bytes, pooled.isSmall() ? smallHeader : header)
        : HeaderDescriptor.openUnpooled(block, bytes, header);
  }

  private static long openPooled(PooledBlock block, int bytes, int header) {
    long extent = Block.extentOf(bytes, header);
    boolean likeBefore = block.extent() == extent;
    try {
      block.openRaw(bytes, header);
      return addressBehindHeader(block, bytes, header, likeBefore);
    } catch (Throwable e) {
      block.abandon(bytes, header);
      throw e;
    }
  }

  /**
   * The address of a use that has begun, with its header in front.
   *
   * @param likeBefore whether the use before had the same extent: then its header was found right
   *     when it ended
   */
  private static long addressBehindHeader(
      PooledBlock block, int bytes, int header, boolean likeBefore) {
    ByteBuffer memory = block.region().buffer();
    int user = block.offset() + header;
    long start = block.startAddress();
    if (block.isSmall()) {
      HeaderDescriptor.writeLight(memory, user, start, header);
    } else if (!likeBefore || !HeaderDescriptor.isStillThere(memory, user, start + header)) {
      int bin = block.requestBin((long) bytes + header);
      HeaderDescriptor.writeFull(memory, user, bin, block.bin(), start, header, bytes);
    }
    return start + header;
  }

  /**
   * Takes an address back.
   *
   * @return how many bytes were asked for
   * @throws IllegalArgumentException if it is not out
   */
  long deallocate(long address) {
    Block block = pool.findPlanned(address);
    if (block == null) {
      block = directory.find(address);
    }
    if (block instanceof PooledBlock pooled) {
      return deallocatePooled(pooled, address);
    }
    return block != null ? deallocateOutside(block, address) : releaseElsewhere(address);
  }

  private long deallocatePooled(PooledBlock block, long address) {
    // The stamp comes first: what is read after it is of this use, or the stamp is stale at the
    // end.
    long stamp = block.stamp();
    int header = block.headerBytes();
    if (!Block.isAllocated(stamp) || header == 0 || address != block.startAddress() + header) {
      return releaseElsewhere(address);
    }
    int user = block.offset() + header;
    int bytes = block.sizeBytes();
    if (block.isSmall()) {
      HeaderDescriptor.checkLight(block.region().buffer(), user, block.startAddress(), header);
    } else {
      HeaderDescriptor.checkFull(
          block.region().buffer(),
          user,
          block.requestBin((long) bytes + header),
          block.bin(),
          block.startAddress(),
          header,
          bytes);
    }
    if (!block.closeRaw(stamp)) {
      throw PoolAccounting.notOurs(address);
    }
    return bytes;
  }

  private long deallocateOutside(Block block, long address) {
    // The stamp comes first, as above: a block of the heap is placed anew for its next use.
    long stamp = block.stamp();
    int header = block.headerBytes();
    if (!Block.isAllocated(stamp) || header == 0 || address != block.startAddress() + header) {
      return releaseElsewhere(address);
    }
    // Won before the header is read: if another thread frees the same address, the memory may go
    // back to the system at any moment.
    if (!block.beginEnd(stamp)) {
      throw PoolAccounting.notOurs(address);
    }
    long bytes = block instanceof HeapBlock heap ? heap.requestedBytes() : block.sizeBytes();
    try {
      HeaderDescriptor.checkFull(
          block.region().buffer(),
          block.offset() + header,
          -1,
          -1,
          address - header,
          header,
          bytes);
    } catch (Throwable e) {
      block.undoEnd(stamp);
      throw e;
    }
    block.finishEnd(stamp);
    return bytes;
  }

  /** An address with no header of ours in front. */
  private long releaseElsewhere(long address) {
    long bytes = elsewhere.applyAsLong(address);
    if (bytes < 0) {
      throw PoolAccounting.notOurs(address);
    }
    return bytes;
  }
}
