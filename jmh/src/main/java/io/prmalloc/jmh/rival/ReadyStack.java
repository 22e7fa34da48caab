package io.prmalloc.jmh.rival;

import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import org.agrona.UnsafeApi;

/**
 * A plain lock-free stack of ready blocks: the least cost of a pool that uses one such stack. It
 * answers every request with a block of the same size.
 *
 * <p>Threading: as {@link Strategy} says.
 */
final class ReadyStack extends AddressStrategy {

  // Treiber's stack (1986) of block numbers. The head holds the top block's number plus one, 0 for
  // none, in its lower half, and in its upper half a count that every change raises, so that a
  // thread that slept in between does not take the block for the same that it saw.

  /** The largest block that a benchmark asks for. Only what is touched costs memory. */
  private static final long BLOCK_BYTES = 16L << 20;

  /** More than a benchmark has out at a time. */
  private static final int BLOCKS = 512;

  private static final long ONE_CHANGE = 1L << Integer.SIZE;

  private final long memory = UnsafeApi.allocateMemory(BLOCK_BYTES * BLOCKS);
  private final AtomicIntegerArray below = new AtomicIntegerArray(BLOCKS + 1);
  private final AtomicLong head = new AtomicLong();

  ReadyStack() {
    for (int block = BLOCKS - 1; block >= 0; block--) {
      giveBack(memory + block * BLOCK_BYTES);
    }
  }

  @Override
  long take(long bytes) {
    if (bytes > BLOCK_BYTES) {
      throw new IllegalArgumentException(bytes + " bytes exceed a block's " + BLOCK_BYTES);
    }
    while (true) {
      long seen = head.get();
      int top = (int) seen;
      if (top == 0) {
        throw new IllegalStateException("all " + BLOCKS + " blocks are out");
      }
      if (head.compareAndSet(seen, change(seen) | below.get(top))) {
        return memory + (top - 1) * BLOCK_BYTES;
      }
    }
  }

  @Override
  void giveBack(long address) {
    int block = (int) ((address - memory) / BLOCK_BYTES) + 1;
    while (true) {
      long seen = head.get();
      below.set(block, (int) seen);
      if (head.compareAndSet(seen, change(seen) | block)) {
        return;
      }
    }
  }

  private static long change(long head) {
    return (head & -ONE_CHANGE) + ONE_CHANGE;
  }

  @Override
  public void close() {
    UnsafeApi.freeMemory(memory);
  }
}
