package io.prmalloc.pool;

import io.prmalloc.OutOfLine;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Equal blocks: the slots of a slab. What was just closed is ready in front of a stack of the rest.
 *
 * <p>Threading: any thread.
 */
abstract class BlockStack {

  // A block that nobody uses is in one of two places, and its state says in which:
  //
  //   home      in front: whoever brings it from home to claimed has it. A bit tells where to look,
  //             one for each block, in plain memory: a hint, as those of ReadyBlocks. A bit that is
  //             wrong costs time, and a block whose bit is lost is found by `gather`.
  //   claimed   on the stack, which gives each of its numbers to one taker.
  //
  // A pair in front is two atomic instructions, the claim and the close; by the stack alone it was
  // three. Blocks get there by being closed while the front is open, and leave it for the stack by
  // `gather`. Once the front is shut, what is closed goes to the stack, whose count is exact: the
  // owner hears of the first block and of the last one.
  //
  // Whoever shuts the front writes that, and then looks at all states; whoever closes writes the
  // state, and then looks whether the front is open. One of the two sees the other, so no block
  // stays in a front that is shut. Both may see each other: then one of them wins the claim, and
  // puts the block on the stack.

  /** Longs in two cache lines, which some processors fetch in pairs. */
  private static final int APART = 16;

  /** Of the words in front, those which have a bit set: a bit for each. */
  private static final int SUMMARY = APART;

  private static final int FIRST_WORD = SUMMARY + 1;

  /** As many as a word of words has bits. */
  static final int MAX_CAPACITY = Long.SIZE * Long.SIZE;

  private static final VarHandle BLOCK = MethodHandles.arrayElementVarHandle(PooledBlock[].class);

  private final IndexStack free;
  private final PooledBlock[] blocks;
  private final long[] ready;

  private volatile boolean frontOpen;

  /**
   * @param capacity from 1 to {@link #MAX_CAPACITY}
   */
  BlockStack(int capacity) {
    if (capacity > MAX_CAPACITY) {
      throw new IllegalArgumentException("capacity " + capacity + " exceeds " + MAX_CAPACITY);
    }
    this.free = new IndexStack(capacity);
    this.blocks = new PooledBlock[capacity];
    this.ready = new long[FIRST_WORD + wordAt(capacity - 1) + 1 + APART];
  }

  private static int wordAt(int index) {
    return index >>> 6;
  }

  /** Takes a block, or gives null if none is free. */
  final PooledBlock allocate() {
    PooledBlock block = takeReady();
    return block != null ? block : pop();
  }

  /** Claims the first block that has its bit set, and clears it. */
  private PooledBlock takeReady() {
    // One word is looked at in any case: the processor need not wait for the summary to say so.
    return blocks.length <= Long.SIZE ? takeFrom(0) : takeFromAny();
  }

  private PooledBlock takeFromAny() {
    PooledBlock block = null;
    for (long words = ready[SUMMARY]; words != 0 && block == null; words &= words - 1) {
      int word = Long.numberOfTrailingZeros(words);
      block = takeFrom(word);
      if (block == null) {
        ready[SUMMARY] &= ~(1L << word);
      }
    }
    return block;
  }

  private PooledBlock takeFrom(int word) {
    for (long found = ready[FIRST_WORD + word]; found != 0; found &= found - 1) {
      ready[FIRST_WORD + word] &= ~(found & -found);
      PooledBlock block = blockAt((word << 6) + Long.numberOfTrailingZeros(found));
      if (block != null && block.claim()) {
        return block;
      }
    }
    return null;
  }

  /** Acquire: a bit of another thread may be seen before the block is. */
  private PooledBlock blockAt(int index) {
    return (PooledBlock) BLOCK.getAcquire(blocks, index);
  }

  private PooledBlock pop() {
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
      // It is taken, and was never in front.
      block.claim();
      BLOCK.setRelease(blocks, index, block);
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
   * A block came home, by a compare-and-set or before a full fence.
   *
   * @param block one of this stack's, which a racing reader may not see in its array yet
   * @param index the block's number
   * @return 0 if the front is open, or the stack had some before and has not all of them now; else
   *     more than 0
   */
  final int release(PooledBlock block, int index) {
    return frontOpen ? note(wordAt(index), index) : push(block, index);
  }

  private int note(int word, int index) {
    ready[FIRST_WORD + word] |= 1L << index;
    ready[SUMMARY] |= 1L << word;
    return 0;
  }

  private int push(PooledBlock block, int index) {
    // Who else may have put it on the stack did not tell.
    int count = block.claim() ? free.push(index) : 1;
    return count == 1 || count == blocks.length ? count : 0;
  }

  /** Whether blocks that come home are ready in front. */
  final boolean isFrontOpen() {
    return frontOpen;
  }

  /** Lets blocks that come home be ready in front. */
  final void openFront() {
    frontOpen = true;
  }

  /** Sends all blocks to the stack that are home, or come home from now on. */
  final void shutFront() {
    frontOpen = false;
    gather();
  }

  /** Puts the blocks on the stack that are home. */
  final void gather() {
    VarHandle.fullFence();
    for (int index = 0; index < blocks.length; index++) {
      PooledBlock block = blockAt(index);
      if (block != null && block.claim()) {
        free.push(index);
      }
    }
  }

  /** The blocks that were ever taken; the others are null. */
  final PooledBlock[] blocks() {
    return blocks;
  }

  /** How many blocks are on the stack: all that are free, if the front is shut. */
  final int freeBlocks() {
    return free.size();
  }

  /** Whether all blocks are on the stack. */
  final boolean allHome() {
    return free.size() == blocks.length;
  }

  /** Lets nothing more out if no block is out; see {@link IndexStack#retire}. */
  final boolean retire() {
    gather();
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
    retire();
    for (PooledBlock block : blocks) {
      if (block != null) {
        block.revoke();
      }
    }
  }
}
