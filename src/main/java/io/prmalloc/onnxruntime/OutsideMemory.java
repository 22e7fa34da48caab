package io.prmalloc.onnxruntime;

import com.sun.jna.Native;
import io.prmalloc.Allocator;
import io.prmalloc.internal.os.RepeatedPages;
import org.agrona.collections.Long2LongHashMap;

/**
 * Memory of the C library, or addresses with little memory behind them, for an engine that must not
 * be refused: of any size, and without need of the Java heap as long as no more than a thousand
 * blocks are out.
 *
 * <p>Threading: any thread.
 */
final class OutsideMemory {

  private static final int ROOM = 2048;
  private static final float LOAD_FACTOR = 0.5f;
  private static final long ALIGNMENT = Allocator.DEFAULT_ALIGNMENT;

  /** No address, and no size. */
  private static final long NONE = -1;

  /** The start of what is {@link RepeatedPages}. */
  private static final long REPEATED = 0;

  // By the address that is out, under the lock.
  private final Long2LongHashMap starts = new Long2LongHashMap(ROOM, LOAD_FACTOR, NONE);
  private final Long2LongHashMap sizes = new Long2LongHashMap(ROOM, LOAD_FACTOR, NONE);

  /** Written under the lock. */
  private volatile long bytes;

  private volatile long peakBytes;

  /** Bytes that are allocated, as asked for. */
  long bytes() {
    return bytes;
  }

  /** The most of them at a time. */
  long peakBytes() {
    return peakBytes;
  }

  /**
   * Takes memory.
   *
   * @return the address; 0 if the C library has none
   */
  long take(long size) {
    long start = Native.malloc(Math.addExact(size, ALIGNMENT));
    if (start == 0) {
      return 0;
    }
    try {
      long address = (start + ALIGNMENT - 1) & -ALIGNMENT;
      enter(address, start, size);
      return address;
    } catch (Throwable e) {
      Native.free(start);
      throw e;
    }
  }

  /**
   * Takes addresses with little memory behind them: what is written shows at other ones, too.
   *
   * @return the address; 0 if the system has none
   */
  long takeRepeated(long size) {
    long address = RepeatedPages.map(size);
    if (address == 0) {
      return 0;
    }
    try {
      enter(address, REPEATED, size);
      return address;
    } catch (Throwable e) {
      RepeatedPages.unmap(address, size);
      throw e;
    }
  }

  private synchronized void enter(long address, long start, long size) {
    sizes.put(address, size);
    // What counts comes last: there is nothing to be undone if a map cannot grow.
    starts.put(address, start);
    bytes += size;
    peakBytes = Math.max(peakBytes, bytes);
  }

  /** Gives memory back; false if it is not from here. */
  boolean giveBack(long address) {
    if (bytes == 0) {
      return false;
    }
    long start;
    long size;
    synchronized (this) {
      start = starts.remove(address);
      if (start == NONE) {
        return false;
      }
      size = sizes.remove(address);
      bytes -= size;
    }
    if (start == REPEATED) {
      RepeatedPages.unmap(address, size);
    } else {
      Native.free(start);
    }
    return true;
  }
}
