package io.prmalloc.internal.freelist;

import static io.prmalloc.internal.freelist.BlockNumbers.wordAt;

import io.prmalloc.internal.block.NoInline;
import io.prmalloc.internal.block.Stripes;
import io.prmalloc.lifetime.LifetimePolicy;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.function.Consumer;

/**
 * The free index: a bit for each block that may be free, by stripe of threads. Every request looks
 * here first, and every close writes here. Of an arena, {@link ChunkIndex}; of a slab, made by
 * {@link #ofSlots}.
 *
 * <p>The stripes' own bits do what a magazine does (Bonwick and Adams, USENIX 2001), the others'
 * bits what the thread-free list of mimalloc does (Leijen, Zorn and de Moura, 2019). Threading: any
 * thread.
 */
public class FreeIndex {

  // The truth about a block is the state in the block itself: the thread that changes it from free
  // to claimed has it, and a close changes it back by a compare-and-set (see Block). This index has
  // hints only, in plain memory; a wrong hint costs time and nothing else.
  //
  //   stripe 0:  | blocks 0 to 63 | blocks 64 to 127 | ...     a word of bits each,
  //   stripe 1:  | blocks 0 to 63 | blocks 64 to 127 | ...     once local and once remote
  //
  //   size class 0:  | which word stripe 0 looks at first | which one stripe 1 does | ...
  //                  and a mask: the blocks of that word that the class may have
  //
  // Each block belongs to a stripe: that of the thread that took it last from another one. A thread
  // of that stripe which closes the block sets its bit in the local word, and takes it from there:
  // it gets a block that it just had in its cache, and no other stripe writes that cache line. A
  // thread of another stripe sets the bit in the remote word, by an atomic instruction. A thread
  // that finds nothing in a local word takes all of the remote word at once. So a block that one
  // thread allocates and another one frees returns to the allocating thread.
  //
  // A stripe that has nothing, neither local nor remote, claims a block of another stripe, which is
  // its own from then on (see ChunkIndex).
  //
  // Blocks are numbered by size, so the lowest bit that is set among those of a size class and of
  // the bins that it may borrow from is the block to take: its own bin's if there is one, else the
  // smallest. That is a mask for each word, from that of its first block on. The fast path looks at
  // one word; a bin that is not all in what is left of a word begins with the next, so its own
  // blocks are there. A thread that finds none of them continues on the slow path with those that
  // it may borrow. A bin may have more blocks than a word has bits: then the word to look at first
  // is the one in which the stripe last found some on the slow path.
  //
  // Effects of races. Two threads of one stripe may both read a local word before either writes it.
  // Then
  //   - both try to take one block: one of them wins the claim, the other continues to search;
  //   - a bit that was set is lost: a block is free and not noted anywhere;
  //   - a bit that was cleared is set again: a thread that tries to take that block finds it taken,
  //     and clears the bit.
  // A free block that is not noted anywhere is found by a check of the blocks themselves, before
  // any request is served from elsewhere: Buffer.claimAny, BlockStack.gather.
  //
  // Memory order: the words are plain, for nothing is concluded from them. `blocks` is filled
  // before the table that holds this object is published; of a slab, by release stores as its slots
  // are made, and what is read of a slot depends on the reference that was read.

  private static final VarHandle WORD = MethodHandles.arrayElementVarHandle(long[].class);

  /** Words lie so far apart, as a power of two of longs: the processor fetches lines in pairs. */
  private static final int SPREAD_SHIFT = 4;

  /** Has no blocks. */
  public static final FreeIndex NONE =
      new FreeIndex(0, 1, 0, new PooledBlock[0], 1, 1, new Stripes(1));

  /** By number; null if no block has it. */
  final PooledBlock[] blocks;

  /** The mask of the stripes that blocks belong to. */
  private final int stripeMask;

  /** The mask of the stripes that have words of their own: all, or one for all. */
  private final int laneMask;

  private final int laneBits;

  /** By {@link #at}: bits of blocks that threads of their own stripe closed. */
  private final long[] local;

  /** By {@link #at}: bits of blocks that other threads closed. */
  private final long[] remote;

  final int words;
  final int shareCount;

  /** How many words are of one share, in each of which the same bins lie alike. */
  final int shareWords;

  private final int intervalShift;

  /** Subtracted from a size before it is shifted. */
  private final long belowClasses;

  /** By size class and lane: the {@link #at place} of the word to look at first. */
  private final int[] fronts;

  /** By size class: the blocks of that word that it may have. */
  private final long[] masks;

  /** By size class: the first word that has some, of the first share. */
  private final int[] wordOf;

  /** By size class: how many words, from the first on, may be looked at first. */
  private final int[] frontWords;

  /** By size class: all that it may have, by word of a share; null if one word has all. */
  private final long[][] candidates;

  /** Told of every block that is freed; null for no listener. */
  private volatile Consumer<PooledBlock> listener;

  /**
   * @param classes how many size classes there are
   * @param intervalShift the step between size classes, as a power of two
   * @param belowClasses the least size that has a class; those of the first class differ from it by
   *     less than the step
   * @param blocks by number, in whole words
   * @param shareCount how many shares they are divided in, each of as many words
   * @param lanes how many stripes have words of their own: all, or 1 for all together
   * @param stripes to which blocks belong
   */
  FreeIndex(
      int classes,
      int intervalShift,
      long belowClasses,
      PooledBlock[] blocks,
      int shareCount,
      int lanes,
      Stripes stripes) {
    this.intervalShift = intervalShift;
    this.belowClasses = belowClasses;
    this.stripeMask = stripes.count() - 1;
    this.laneMask = lanes - 1;
    this.laneBits = Integer.numberOfTrailingZeros(lanes);
    this.fronts = new int[classes << laneBits];
    this.masks = new long[classes];
    this.wordOf = new int[classes];
    this.frontWords = new int[classes];
    this.candidates = new long[classes][];
    this.blocks = blocks;
    this.words = wordAt(blocks.length);
    this.shareCount = shareCount;
    this.shareWords = words / shareCount;
    // One word more than the blocks need: later blocks are noted in it, and no search reads it.
    this.local = new long[at(words + 1, 0) + (1 << SPREAD_SHIFT)];
    this.remote = new long[local.length];
  }

  /**
   * The index of a slab, whose slots belong to one stripe at a time: one size class, and one word
   * for all stripes.
   *
   * @param blocks by number, in whole words; may be filled later
   */
  public static FreeIndex ofSlots(PooledBlock[] blocks, Stripes stripes) {
    FreeIndex slots = new FreeIndex(1, Long.SIZE - 2, 0, blocks, 1, 1, stripes);
    long[] byWord = new long[slots.words];
    Arrays.fill(byWord, -1L);
    slots.serve(0, 0, byWord.length, byWord);
    return slots;
  }

  /**
   * Lets {@link #removeFirst} and {@link #takeFurther} give the blocks of a size class.
   *
   * @param firstWord the first that has some, of the first share
   * @param ownWords how many are full of blocks of its own bin, from the first on
   * @param byWord what it may have, by word of a share, from the first on
   */
  final void serve(int sizeClass, int firstWord, int ownWords, long[] byWord) {
    candidates[sizeClass] = byWord;
    wordOf[sizeClass] = firstWord;
    frontWords[sizeClass] = Math.max(1, ownWords);
    masks[sizeClass] = ownWords > 0 ? -1L : byWord[0];
    for (int lane = 0; lane <= laneMask; lane++) {
      lookFirst(sizeClass, lane, at(firstWord, lane));
    }
  }

  /** Makes a stripe search its words of a share first, for every size class. */
  final void lookAtShare(int stripe, int share) {
    for (int sizeClass = 0; sizeClass < masks.length; sizeClass++) {
      if (masks[sizeClass] != 0) {
        lookFirst(sizeClass, stripe, at(share * shareWords + wordOf[sizeClass], stripe));
      }
    }
  }

  /** Written only if it must be: other stripes read the same cache line. */
  private void lookFirst(int sizeClass, int lane, int at) {
    int front = sizeClass << laneBits | lane;
    if (fronts[front] != at) {
      fronts[front] = at;
    }
  }

  // Where a word lies, and what it is of.

  private int at(int word, int lane) {
    // One behind the array's header, which every access reads.
    return ((word << laneBits | lane) + 1) << SPREAD_SHIFT;
  }

  private int firstNumber(int at) {
    return ((at >>> SPREAD_SHIFT) - 1) >>> laneBits << 6;
  }

  /** The block with the lowest of some bits of a word. */
  private PooledBlock block(int at, long some) {
    return blocks[firstNumber(at) + Long.numberOfTrailingZeros(some)];
  }

  // Methods on the fast path have at most 35 bytes of bytecode, because more is not inlined where
  // the JIT takes the caller for cold, as it does in the handler of a try-with-resources; the
  // user's handle then costs heap (see NoInline). HandleGarbageTest fails if one has more.

  /** The stripe of the calling thread. */
  final int stripe() {
    return Stripes.callerNumber() & stripeMask;
  }

  private int lane() {
    return Stripes.callerNumber() & laneMask;
  }

  /**
   * Takes a block that may be free from the caller's first word, where it is no longer noted then;
   * or gives null.
   *
   * @param totalBytes header included, of any request: nothing is found for one without a class
   */
  public final PooledBlock removeFirst(long totalBytes) {
    long sizeClass = classOf(totalBytes);
    return sizeClass < masks.length ? removeOfClass((int) sizeClass) : null;
  }

  /** As {@link #sizeClass}, of any request; more than there are for one without a class. */
  private long classOf(long totalBytes) {
    return (totalBytes - belowClasses) >>> intervalShift;
  }

  private PooledBlock removeOfClass(int sizeClass) {
    return removeFrom(fronts[sizeClass << laneBits | lane()], masks[sizeClass]);
  }

  private PooledBlock removeFrom(int at, long mask) {
    long noted = local[at];
    long found = noted & mask;
    return found != 0 ? remove(at, noted, found) : null;
  }

  private PooledBlock remove(int at, long noted, long found) {
    local[at] = noted & ~(found & -found);
    return block(at, found);
  }

  /** Claims a block of the caller's first word, or gives null. */
  public final PooledBlock take(long totalBytes) {
    PooledBlock found = removeFirst(totalBytes);
    return found != null && found.claim() ? found : null;
  }

  /** Notes a block that is free now. */
  public final void put(PooledBlock block) {
    int number = block.number();
    int stripe = block.stripe();
    note(at(wordAt(number), stripe & laneMask), 1L << number, stripe);
  }

  private void note(int at, long bit, int stripe) {
    if ((Stripes.callerNumber() & stripeMask) == stripe) {
      local[at] |= bit;
    } else {
      noteRemote(at, bit, NoInline.DEPTH);
    }
  }

  /** Out of line, or every close would have too much code: see NoInline. */
  private void noteRemote(int at, long bit, int depth) {
    if (depth > 0) {
      noteRemote(at, bit, depth - 1);
    } else {
      WORD.getAndBitwiseOr(remote, at, bit);
    }
  }

  // The slow path.

  /** Claims a block where {@link #removeFirst} found none: looks at all words of the stripe. */
  public final PooledBlock takeFurther(long totalBytes) {
    long sizeClass = classOf(totalBytes);
    long[] byWord = sizeClass < candidates.length ? candidates[(int) sizeClass] : null;
    PooledBlock block = null;
    for (int i = 0; byWord != null && i < byWord.length && block == null; i++) {
      block = takeFromShares((int) sizeClass, i, byWord[i]);
    }
    return block;
  }

  /** For the word at this distance from the first, in each share. */
  private PooledBlock takeFromShares(int sizeClass, int behind, long mask) {
    int lane = lane();
    for (int word = wordOf[sizeClass] + behind; word < words; word += shareWords) {
      int at = at(word, lane);
      PooledBlock block = takeOwn(at, mask);
      if (block != null) {
        if (behind < frontWords[sizeClass]) {
          lookFirst(sizeClass, lane, at);
        }
        return block;
      }
    }
    return null;
  }

  /** Claims one of some blocks that are noted in a word of the caller's, or gives null. */
  private PooledBlock takeOwn(int at, long mask) {
    collect(at);
    PooledBlock block = removeFrom(at, mask);
    while (block != null && !block.claim()) {
      block = removeFrom(at, mask);
    }
    return block;
  }

  /** Notes as local what other threads closed. */
  private void collect(int at) {
    if (remote[at] != 0) {
      local[at] |= (long) WORD.getAndSet(remote, at, 0L);
    }
  }

  /** Notes as local what other threads closed of the caller's stripe, in all words. */
  public final void collect() {
    int lane = lane();
    for (int word = 0; word < words; word++) {
      collect(at(word, lane));
    }
  }

  /** The bits of a stripe's blocks that may be free, of those from one number to another. */
  public final long noted(int stripe, int word, int first, int last) {
    int at = at(word, stripe & laneMask);
    return (local[at] | remote[at]) & BlockNumbers.maskOf(word, first, last);
  }

  /** How many blocks are noted, of all stripes. */
  public final int noted() {
    int noted = 0;
    for (int at = 1 << SPREAD_SHIFT; at < local.length; at += 1 << SPREAD_SHIFT) {
      noted += Long.bitCount(local[at] | remote[at]);
    }
    return noted;
  }

  /**
   * Claims one of some blocks that are noted for a stripe, and moves it to the caller's; or returns
   * null.
   */
  final PooledBlock takeFrom(int stripe, int word, long some) {
    int at = at(word, stripe & laneMask);
    for (long left = some; left != 0; left &= left - 1) {
      forget(at, left & -left);
      PooledBlock block = block(at, left);
      if (block.claim()) {
        block.moveTo(stripe());
        return block;
      }
    }
    return null;
  }

  /** Moves some blocks that are noted for another stripe to the caller's. */
  final void moveFrom(int stripe, int word, long some) {
    int at = at(word, stripe & laneMask);
    forget(at, some);
    for (long left = some; left != 0; left &= left - 1) {
      PooledBlock block = block(at, left);
      block.moveTo(stripe());
      put(block);
    }
  }

  /** No longer notes some blocks; what another thread notes meanwhile is not lost. */
  private void forget(int at, long some) {
    WORD.getAndBitwiseAnd(local, at, ~some);
    WORD.getAndBitwiseAnd(remote, at, ~some);
  }

  /**
   * The size class of a request: {@link LifetimePolicy#index} of its size and the room it needs,
   * without the division.
   *
   * @param totalBytes the size, header included, over {@link LifetimePolicy#SMALL_BYTES}
   */
  public final int sizeClass(long totalBytes) {
    return (int) classOf(totalBytes);
  }

  /** Sets the listener that is told of every block that is freed from now on; null for none. */
  public final void tell(Consumer<PooledBlock> whenFree) {
    // Volatile, as are the states of the blocks: if a thread frees a block and does not see the
    // listener yet, a thread that reads the states after this call sees the block as free.
    listener = whenFree;
  }

  /** Whether {@link #settle} is to be called for a block that was freed. */
  public final boolean isTold() {
    return listener != null;
  }

  /** Tells of a block. */
  final void settle(PooledBlock block) {
    Consumer<PooledBlock> told = listener;
    if (told != null) {
      told.accept(block);
    }
  }
}
