package io.prmalloc.internal.slab;

import static io.prmalloc.internal.freelist.BlockNumbers.wordAt;

import io.prmalloc.internal.block.NoInline;
import io.prmalloc.internal.block.PoolCounts;
import io.prmalloc.internal.block.Retirable;
import io.prmalloc.internal.block.Stripes;
import io.prmalloc.internal.freelist.FreeIndex;
import io.prmalloc.internal.freelist.PooledBlock;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import java.util.function.IntPredicate;

/**
 * Equal blocks: the slots of a slab. Slots that were just closed are in the free index (the front),
 * the others on a lock-free stack.
 *
 * <p>Threading: any thread.
 */
abstract class BlockStack implements Retirable {

  // A free block is in one of two places, and its state says in which:
  //
  //   free      in front: the thread that changes it from free to claimed has it. A bit tells where
  //             to look (see FreeIndex); a block whose bit is lost is found by `gather`.
  //   claimed   on the stack, which gives each of its numbers to one taker.
  //
  // A pair in front is two atomic instructions; by the stack it is three, on a longer way. Blocks
  // get to the front by being closed while it is open, or from the stack, all at once, when nothing
  // is there. They leave it for the stack by `gather`. After the front is shut, freed blocks are
  // put on the stack, whose count is exact: the owner is told of the first block and of the last
  // one.
  //
  // The front is shut while a listener is told of freed blocks. The thread that shuts it first sets
  // the listener and then reads all states; a thread that frees a block first writes the state and
  // then reads the listener. One of the two sees the other, so no block stays in a front that is
  // shut. Both may see each other: then one of them wins the claim, and puts the block on the
  // stack.

  /** Larger ones would take a long search when the front is empty. */
  static final int MAX_CAPACITY = Long.SIZE * Long.SIZE;

  private static final VarHandle BLOCK = MethodHandles.arrayElementVarHandle(PooledBlock[].class);

  private final int capacity;
  private final IndexStack free;

  /** In whole words; null for what was never taken. */
  private final PooledBlock[] blocks;

  private final FreeIndex front;

  // Made once, for to make them costs heap.
  private final Consumer<PooledBlock> toStack = this::push;
  private final Consumer<PooledBlock> toStackIfFree = this::pushIfFree;
  private final IntConsumer toFront = this::bringToFront;
  private final IntPredicate made;

  /**
   * A stack of all, and a front that is shut.
   *
   * @param capacity from 1 to {@link #MAX_CAPACITY}
   * @param stripes to one of which the blocks belong at a time
   */
  BlockStack(int capacity, Stripes stripes) {
    if (capacity > MAX_CAPACITY) {
      throw new IllegalArgumentException("capacity " + capacity + " exceeds " + MAX_CAPACITY);
    }
    this.capacity = capacity;
    this.free = new IndexStack(capacity);
    this.blocks = new PooledBlock[(wordAt(capacity - 1) + 1) * Long.SIZE];
    this.made = index -> blocks[index] != null;
    this.front = FreeIndex.ofSlots(blocks, stripes);
    front.tell(toStack);
  }

  /** The blocks that were just freed, while it is open. */
  final FreeIndex front() {
    return front;
  }

  /** Takes a block, or gives null if none is free. */
  final PooledBlock allocate() {
    PooledBlock block = takeReady();
    return block != null ? block : pop();
  }

  /**
   * The same for a thread that the front serves, if the front is open: before it takes a block from
   * the stack, all blocks that were ever taken are put in the front.
   */
  final PooledBlock allocateServed() {
    PooledBlock block = takeReady();
    if (block == null && free.popWhile(made, toFront) > 0) {
      block = takeReady();
      // A thread that shut the front meanwhile may have read the states before.
      VarHandle.fullFence();
      if (front.isTold()) {
        gather();
      }
    }
    return block != null ? block : pop();
  }

  /** From the stack. */
  private void bringToFront(int index) {
    PooledBlock block = blocks[index];
    block.giveUp();
    front.put(block);
  }

  private PooledBlock takeReady() {
    return front.takeFurther(0);
  }

  private PooledBlock pop() {
    int index = free.pop();
    if (index < 0) {
      return null;
    }
    PooledBlock block = blocks[index];
    return block != null ? block : makeNoInline(index, NoInline.DEPTH);
  }

  /** {@link #make} out of line: see {@link NoInline}. */
  private PooledBlock makeNoInline(int index, int depth) {
    return depth > 0 ? makeNoInline(index, depth - 1) : make(index);
  }

  /**
   * Blocks are made when first taken, by the thread that owns the index: most slots of most slabs
   * never are.
   */
  private PooledBlock make(int index) {
    try {
      PooledBlock block = create(index);
      block.notedIn(front, index);
      // It is taken, and was never in front.
      block.claim();
      BLOCK.setRelease(blocks, index, block);
      return block;
    } catch (Throwable e) {
      free.push(index);
      throw e;
    }
  }

  abstract PooledBlock create(int index);

  /** The stack has its first block, or all. */
  abstract void changed();

  private void push(PooledBlock block) {
    // If another thread put it on the stack, that thread did not report it.
    int count = block.claim() ? free.push(block.number()) : 1;
    if (count == 1 || count == capacity) {
      changed();
    }
  }

  /** Whether blocks that are freed are ready in front. */
  final boolean isFrontOpen() {
    return !front.isTold();
  }

  /** Lets blocks that are freed be ready in front. */
  final void openFront() {
    front.tell(null);
  }

  /** Sends all blocks to the stack that are free, or are freed from now on. */
  final void shutFront() {
    front.tell(toStack);
    gather();
  }

  /** Puts the blocks on the stack that are free. */
  final void gather() {
    VarHandle.fullFence();
    forEachBlock(toStackIfFree);
  }

  private void pushIfFree(PooledBlock block) {
    // Checked first: most blocks are allocated, and nothing more is read of those.
    if (block.isFree() && block.claim()) {
      free.push(block.number());
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

  /** How many blocks are on the stack or noted in front; more if one is both. */
  final int readyBlocks() {
    return free.size() + front.noted();
  }

  /** Whether all blocks are on the stack. */
  final boolean allFree() {
    return free.size() == capacity;
  }

  /** Refuses further requests if no block is allocated; see {@link IndexStack#retire}. */
  @Override
  public final boolean retire() {
    gather();
    return free.retire();
  }

  /** Undoes {@link #retire}. */
  @Override
  public final void reopen() {
    free.reopen();
  }

  /** Goes through the blocks that were ever taken. */
  final void forEachBlock(Consumer<PooledBlock> action) {
    for (int index = 0; index < capacity; index++) {
      // Acquire: it may have been made by another thread, and be read before what it consists of.
      PooledBlock block = (PooledBlock) BLOCK.getAcquire(blocks, index);
      if (block != null) {
        action.accept(block);
      }
    }
  }

  /** Adds up the blocks that were ever taken. Takes no heap. */
  final void addTo(PoolCounts counts) {
    for (int index = 0; index < capacity; index++) {
      PooledBlock block = (PooledBlock) BLOCK.getAcquire(blocks, index);
      if (block != null) {
        counts.add(block);
      }
    }
  }

  /** Lets the blocks' largest uses begin anew. */
  final void clearLargest() {
    forEachBlock(PooledBlock::clearLargest);
  }

  /** Closes the handles on blocks that are still allocated, before the memory is freed. */
  final void revokeAll() {
    retire();
    forEachBlock(PooledBlock::revoke);
  }
}
