package io.prmalloc.pool;

import io.prmalloc.OutOfLine;

/**
 * A stack of equal blocks: the chunks of a bin's buffer, or the slots of a slab.
 *
 * <p>Threading: any thread.
 */
abstract class BlockStack {

  private final IndexStack free;
  private final PooledBlock[] blocks;
  private final int alignment;

  BlockStack(int capacity, int alignment) {
    this.free = new IndexStack(capacity);
    this.blocks = new PooledBlock[capacity];
    this.alignment = alignment;
  }

  /** Takes the block that came home last, or null if none is free or they are not so aligned. */
  final PooledBlock allocate(int wantedAlignment) {
    if (wantedAlignment > alignment) {
      return null;
    }
    int index = free.pop();
    if (index < 0) {
      return null;
    }
    PooledBlock block = blocks[index];
    return block != null ? block : makeOutOfLine(index, OutOfLine.DEPTH);
  }

  /** {@link #make} out of line: see {@link OutOfLine}. */
  private PooledBlock makeOutOfLine(int index, int depth) {
    return depth > 0 ? makeOutOfLine(index, depth - 1) : make(index);
  }

  /**
   * Blocks are made when first taken, by the thread that owns the index: most slots of most slabs
   * never are.
   */
  private PooledBlock make(int index) {
    boolean made = false;
    try {
      PooledBlock block = create(index);
      blocks[index] = block;
      made = true;
      return block;
    } finally {
      if (!made) {
        free.push(index);
      }
    }
  }

  abstract PooledBlock create(int index);

  /**
   * A block comes home.
   *
   * @param index its number
   */
  final int release(int index) {
    return free.push(index);
  }

  /** The blocks that were ever taken; the others are null. */
  final PooledBlock[] blocks() {
    return blocks;
  }

  /**
   * How many blocks were ever taken: the most that were out at once, for they are taken last in,
   * first out.
   */
  final int blocksUsed() {
    int used = 0;
    for (PooledBlock block : blocks) {
      used += block != null && block.uses() > 0 ? 1 : 0;
    }
    return used;
  }

  final int alignment() {
    return alignment;
  }

  final int freeBlocks() {
    return free.size();
  }

  final boolean allHome() {
    return free.size() == blocks.length;
  }

  /** Lets nothing more out if all blocks are home; see {@link IndexStack#retire}. */
  final boolean retire() {
    return free.retire();
  }

  /** Undoes {@link #retire}. */
  final void reopen() {
    free.reopen();
  }

  /** Adds up the blocks that were ever taken. */
  final void addTo(PoolCounts counts) {
    for (PooledBlock block : blocks) {
      if (block != null) {
        counts.add(block);
      }
    }
  }

  /** Lets the blocks' largest uses begin anew. */
  final void clearLargest() {
    for (PooledBlock block : blocks) {
      if (block != null) {
        block.clearLargest();
      }
    }
  }

  /** Closes the handles on blocks that are still out, before the memory goes. */
  final void revokeAll() {
    free.retire();
    for (PooledBlock block : blocks) {
      if (block != null) {
        block.revoke();
      }
    }
  }
}
