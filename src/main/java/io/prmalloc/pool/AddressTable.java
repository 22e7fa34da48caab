package io.prmalloc.pool;

import io.prmalloc.Block;

/**
 * Finds the block in use that begins at an address.
 *
 * <p>Threading: immutable.
 */
final class AddressTable {

  // Open addressing, at most half full. Addresses are multiples of 64, so a multiplication by an
  // odd number of no pattern spreads them, and the upper bits of the product say where to begin.

  private static final long SPREAD = 0x9E3779B97F4A7C15L;

  private final long[] addresses;
  private final Block[] blocks;
  private final int shift;

  /** Of those that begin at the same address one is in use at a time. */
  AddressTable(Block[] all) {
    int bits = Integer.SIZE - Integer.numberOfLeadingZeros(2 * all.length);
    this.shift = Long.SIZE - bits;
    this.addresses = new long[1 << bits];
    this.blocks = new Block[1 << bits];
    for (Block block : all) {
      int slot = first(block.startAddress());
      while (blocks[slot] != null) {
        slot = next(slot);
      }
      addresses[slot] = block.startAddress();
      blocks[slot] = block;
    }
  }

  private int first(long address) {
    return (int) ((address * SPREAD) >>> shift);
  }

  private int next(int slot) {
    return (slot + 1) & (blocks.length - 1);
  }

  /** The block at an address that is in use, or null. */
  Block find(long address) {
    int slot = first(address);
    while (blocks[slot] != null && !(addresses[slot] == address && blocks[slot].isLive())) {
      slot = next(slot);
    }
    return blocks[slot];
  }
}
