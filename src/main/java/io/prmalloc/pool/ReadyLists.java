package io.prmalloc.pool;

import io.prmalloc.lifetime.LifetimePolicy;
import java.util.List;

/**
 * Where to look for a free block: lists of those that came home, by bin and by stripe.
 *
 * <p>Threading: any thread.
 */
final class ReadyLists {

  // The truth about a block is the state in the block itself: whoever wins the compare-and-set from
  // "home" to "claimed" has it, and a close is the compare-and-set back (see Block). Two atomic
  // instructions for a pair, each on a cache line that belongs to the block alone. There is no
  // third
  // place that must agree with them: what is kept here are hints, in plain memory, and a hint that
  // is wrong costs time and nothing else.
  //
  //   heads   stripe 0:  | list 0 | list 1 | list 2 | ...
  //           stripe 1:  | list 0 | list 1 | list 2 | ...
  //
  // Each is two numbers of blocks, or 0: the first on the list (low half), and the last that was
  // put there, even if it is gone (high half).
  //
  // A list is linked through the blocks (PooledBlock.nextReady). A thread puts what it closes on
  // the list of its own stripe and takes from there: last in, first out, so that the block it gets
  // is the one it just had in its cache, and no other thread's close touches the same line.
  //
  // What races do. Two threads on one stripe, or a thief and the owner, may both read a head before
  // either writes it. Then
  //   - both go for one block: one of them wins the claim, the other looks on;
  //   - one push overwrites another: a block is home and on no list;
  //   - links end up in a ring, or lead from one list into another: a walk takes a few steps and
  //     no more, and every push of a block mends its link.
  // A busy block on a list is dropped by whoever meets it; its close will list it again. A free
  // block on no list is found by Buffer.claimAny, which asks the blocks themselves, before any
  // request goes to the system.
  //
  // A thread whose own list is empty tries the block that it had last, for that may be home and on
  // no list, by the doings of a thief. Without that it would steal in turn, and two threads with a
  // block each could go on robbing each other. Then it looks at the other stripes' lists before it
  // borrows from
  // another bin: no block is stranded with a thread that is idle. So memory handed from a producer
  // to a consumer comes back by theft, and what is in flight bounds what is needed.
  //
  // Memory order: heads and links are plain, for nothing is concluded from them. `blocks` is
  // filled before the table that holds this object is published.

  /** How many blocks on one list are tried at most. */
  private static final int MAX_WALK = 8;

  private static final int LAST_SHIFT = 32;
  private static final long LAST_MASK = -1L << LAST_SHIFT;

  private static final int MIN_STRIPES = 8;
  private static final int MAX_STRIPES = 64;

  /** Two cache lines, which some processors fetch in pairs: no two stripes share them. */
  private static final int PADDING = 32;

  private final long[] heads;
  private final Stripes stripes;
  private final int stripeShift;

  private final int intervalShift;

  /** What is taken off a size before it is shifted. */
  private final long belowClasses;

  /** Told of every block that comes home; null but for a plan that was replaced. */
  private volatile Runnable listener;

  /** By number; there is none with number 0. */
  private final PooledBlock[] blocks;

  /**
   * @param lists how many lists there are
   * @param intervalShift the step between size classes, as a power of two
   * @param roomBytes what every request needs beside its size
   * @param blocks all blocks, all at home; the one at position i is given the number i + 1
   */
  ReadyLists(int lists, int intervalShift, int roomBytes, List<PooledBlock> blocks) {
    this(
        lists, intervalShift, roomBytes, blocks, Stripes.perProcessor(4, MIN_STRIPES, MAX_STRIPES));
  }

  ReadyLists(
      int lists, int intervalShift, int roomBytes, List<PooledBlock> blocks, Stripes stripes) {
    this.intervalShift = intervalShift;
    this.belowClasses = LifetimePolicy.SMALL_BYTES + 1L - roomBytes;
    this.stripes = stripes;
    this.stripeShift = Integer.SIZE - Integer.numberOfLeadingZeros(lists + PADDING - 1);
    this.heads = new long[stripes.count() << stripeShift];
    this.blocks = new PooledBlock[blocks.size() + 1];
    // The first block of a list is to be the first to be taken.
    for (int i = blocks.size(); i > 0; i--) {
      PooledBlock block = blocks.get(i - 1);
      this.blocks[i] = block;
      block.listIn(this, i);
      put(block);
    }
  }

  // Methods on the common way have at most 35 bytes of bytecode, because more is not inlined where
  // the JIT takes the caller for cold, as it does in the handler of a try-with-resources; the
  // user's handle then costs heap (see OutOfLine). HandleGarbageTest fails if one has more.

  private int headOf(int stripe, int list) {
    return (stripe << stripeShift) | list;
  }

  /** Claims the block that this stripe put on the list last, or gives null. */
  PooledBlock take(int list) {
    return takeFirst(headOf(stripes.current(), list));
  }

  private PooledBlock takeFirst(int at) {
    long head = heads[at];
    return (int) head != 0 ? takeFirst(at, head) : null;
  }

  private PooledBlock takeFirst(int at, long head) {
    PooledBlock block = blocks[(int) head];
    heads[at] = (head & LAST_MASK) | block.nextReady();
    return block.claimed();
  }

  /** Claims a block of the list from whichever stripe has one, this one first, or gives null. */
  PooledBlock takeFromAny(int list) {
    int own = stripes.current();
    long head = heads[headOf(own, list)];
    // Only if the list is empty: a block that is out must not stay in front of free ones.
    int last = (int) head == 0 ? (int) (head >>> LAST_SHIFT) : 0;
    PooledBlock block = last != 0 ? blocks[last].claimed() : null;
    for (int i = 0; i < stripes.count() && block == null; i++) {
      int at = headOf(stripes.after(own, i), list);
      for (int step = 0; step < MAX_WALK && block == null && (int) heads[at] != 0; step++) {
        block = takeFirst(at);
      }
    }
    return block;
  }

  /**
   * The size class of a request: {@link LifetimePolicy#index} of its size and the room it needs,
   * without the division.
   *
   * @param totalBytes the size, header included, over {@link LifetimePolicy#SMALL_BYTES}
   */
  int sizeClass(long totalBytes) {
    return (int) ((totalBytes - belowClasses) >> intervalShift);
  }

  /** Has somebody told of every block that comes home from now on. */
  void tell(Runnable whenHome) {
    // Volatile, as are the states of the blocks: whoever comes home and does not see it yet, is
    // seen to be home by whoever looks after this.
    listener = whenHome;
  }

  /** Not 0 if {@link #settle} is to be called for a block that came home. */
  int news() {
    return listener == null ? 0 : 1;
  }

  /** Tells. */
  void settle() {
    Runnable told = listener;
    if (told != null) {
      told.run();
    }
  }

  /** Lists a block that is home now. */
  void put(PooledBlock block) {
    putFirst(headOf(stripes.current(), block.list()), block);
  }

  private void putFirst(int at, PooledBlock block) {
    int first = (int) heads[at];
    // Whoever found the block by asking it has left it on its list: it must not follow itself.
    if (first != block.number()) {
      block.nextReady(first);
      heads[at] = block.headWord();
    }
  }
}
