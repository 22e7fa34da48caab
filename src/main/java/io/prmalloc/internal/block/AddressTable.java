package io.prmalloc.internal.block;

import java.util.Arrays;

/**
 * Finds the block in use that begins at an address.
 *
 * <p>Threading: any thread.
 */
public final class AddressTable {

  // Open addressing, at most half full. Addresses are multiples of 64, so a multiplication by an
  // odd number of no pattern spreads them, and the upper bits of the product say where to begin.
  //
  // It is used for blocks that are freed in another order than in the step before, or by another
  // thread (see StepMemory). In a planned step many tensors have the same address one after the
  // other, each in a block of its own, and the next block to be freed is nearly always that of the
  // request after the last one. So each address has its blocks in the order of the requests, and a
  // cursor to the one that is expected next: asking them one by one would fetch a cache line for
  // each. The cursors are plain fields: a wrong one costs at most a look at each request of the
  // address.

  private static final long SPREAD = 0x9E3779B97F4A7C15L;

  /** By slot; 0 for none. */
  private final long[] addresses;

  /** By slot, in the order of the requests; null for none. */
  private final Block[][] blocks;

  /** By slot: which request's block is expected next. */
  private final int[] cursors;

  private final int shift;

  /**
   * Of the blocks that begin at the same address, one is in use at a time.
   *
   * @param all in the order in which they are expected to be freed; a block may occur more than
   *     once
   */
  public AddressTable(Block[] all) {
    int places = (int) Arrays.stream(all).distinct().count();
    int bits = Integer.SIZE - Integer.numberOfLeadingZeros((2 * places) | 1);
    this.shift = Long.SIZE - bits;
    this.addresses = new long[1 << bits];
    this.blocks = new Block[1 << bits][];
    this.cursors = new int[1 << bits];
    int[] counts = new int[1 << bits];
    for (Block block : all) {
      int slot = slotOf(block.startAddress());
      addresses[slot] = block.startAddress();
      counts[slot]++;
    }
    for (Block block : all) {
      int slot = slotOf(block.startAddress());
      if (blocks[slot] == null) {
        blocks[slot] = new Block[counts[slot]];
      }
      blocks[slot][blocks[slot].length - counts[slot]--] = block;
    }
  }

  /** The slot of an address, or the one where it would be. */
  private int slotOf(long address) {
    int slot = (int) ((address * SPREAD) >>> shift);
    while (addresses[slot] != address && addresses[slot] != 0) {
      slot = (slot + 1) & (addresses.length - 1);
    }
    return slot;
  }

  /** The block at an address that is in use, or null. */
  public Block find(long address) {
    int slot = slotOf(address);
    Block[] here = blocks[slot];
    return here == null ? null : findIn(here, slot);
  }

  private Block findIn(Block[] here, int slot) {
    int at = cursors[slot];
    for (int looks = 0; looks < here.length; looks++) {
      Block block = here[at];
      at = at + 1 < here.length ? at + 1 : 0;
      if (block.isLive()) {
        expect(slot, at);
        return block;
      }
    }
    return null;
  }

  private void expect(int slot, int at) {
    if (cursors[slot] != at) {
      cursors[slot] = at;
    }
  }
}
