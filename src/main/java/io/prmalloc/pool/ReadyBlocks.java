package io.prmalloc.pool;

import static io.prmalloc.pool.BlockNumbers.wordAt;

import io.prmalloc.lifetime.LifetimePolicy;
import java.util.Arrays;
import java.util.function.Consumer;

/**
 * Which blocks may be home, a bit for each, by stripe: where every request looks that has no recent
 * block (see {@link QuickWay}), and what every close writes. Of an arena, {@link ReadyChunks}; of a
 * slab, {@link ReadySlots}.
 *
 * <p>Threading: any thread.
 */
class ReadyBlocks {

  // The truth about a block is the state in the block itself: whoever brings it from "home" to
  // "claimed" has it, and a close is the compare-and-set back (see Block). Most of what a thread
  // takes it closed itself, and then it needs no atomic instruction to claim it (see StripeBias);
  // else that is a compare-and-set too. All are on a cache line that belongs to the block alone.
  // There is no third place that must agree with them: what is kept here are hints, in plain
  // memory, and a hint that is wrong costs time and nothing else.
  //
  //   stripe 0:  | blocks 0 to 63 | blocks 64 to 127 | ...    a ReadyWord each
  //   stripe 1:  | blocks 0 to 63 | blocks 64 to 127 | ...
  //
  //   size class 0:  | where stripe 0 looks first | where stripe 1 does | ...    and a mask
  //
  // A thread sets the bit of what it closes in the words of its own stripe and takes from there: it
  // gets a block that it just had in its cache, and no other thread's close touches the same line.
  // The chunks of an arena have as many stripes (ReadyChunks), the slots of a slab but one: a slab
  // serves few threads. Both are looked for by the same code, or there would be too much of it for
  // the JIT to inline.
  //
  // Blocks are numbered by size, so the lowest bit that is set among those of a size class and of
  // the bins that it may borrow from is the block to take: its own bin's if there is one, else the
  // smallest. That is a mask for each word, from that of its first block on. The quick way looks at
  // one; a bin that is not all in what is left of a word begins with the next, so its own blocks
  // are there. Who finds none of them goes on, the slow way, to those it may borrow.
  //
  // Each step of the quick way waits for the one before: a load of what was just loaded. So it goes
  // from the size class straight to the word, without asking how many words there are or which of
  // them has something; and the word knows who holds its stripe. A block that has its thread's mark
  // knows the word it was taken from, and a close by that thread notes it there (see Block), and
  // tells of it if the word says that somebody wants to hear.
  //
  // A bin may have more blocks than a word has bits, and several shares have one word each for it.
  // Which of these a stripe looks at first is where it last found some the slow way.
  //
  // What races do. Two threads on one stripe, or a thief and the owner, may both read a word before
  // either writes it. Then
  //   - both go for one block: one of them wins the claim, the other looks on;
  //   - a bit that was set is lost: a block is home and nowhere ready;
  //   - a bit that was cleared comes back: who goes for that block finds it busy, and clears it.
  // The last is also what a block is like that serves a size again and again: nobody clears its bit
  // while it is out (see ReadyWord.reopen).
  //
  // A thief clears bits by an atomic instruction, so that what the owner notes meanwhile is not
  // lost: from producer to consumer one in two hundred was, and each had to be looked for. A free
  // block that is nowhere ready is found by who asks the blocks themselves, before any request goes
  // to the system: Buffer.claimAny, BlockStack.gather.
  //
  // Memory order: the words are plain, for nothing is concluded from them. `blocks` is filled
  // before the table that holds this object is published; of a slab, by release stores as its slots
  // are made, and what is read of a slot depends on the reference that was read.

  private static final ReadyWord EMPTY = ReadyWord.of(new PooledBlock[0], 0);

  /** Has nothing for anybody. */
  static final ReadyBlocks NONE = new ReadyBlocks(0, 1, 0, new PooledBlock[0], 1, new Stripes(1));

  /** By number and stripe; behind the last one is one for each stripe that nobody looks at. */
  private final ReadyWord[] allWords;

  /** By number; null where none has it. */
  final PooledBlock[] blocks;

  final int stripeMask;
  private final int stripeBits;
  final int words;

  final int shareCount;

  /** How many words are of one share, in each of which the same bins lie alike. */
  final int shareWords;

  private final int intervalShift;

  /** What is taken off a size before it is shifted. */
  private final long belowClasses;

  /** By size class and stripe: the word to look at first. */
  private final ReadyWord[] fronts;

  /** By size class: the blocks of that word that it may have. */
  private final long[] masks;

  /** By size class: the first word that has some, of the first share. */
  private final int[] wordOf;

  /** By size class: how many words, from the first on, may be looked at first. */
  private final int[] frontWords;

  /** By size class: all that it may have, by word of a share; null if one word has all. */
  private final long[][] candidates;

  /** Told of every block that comes home; null for nobody. */
  private volatile Consumer<PooledBlock> listener;

  /**
   * @param classes how many size classes there are
   * @param intervalShift the step between size classes, as a power of two
   * @param belowClasses the least size that has a class; those of the first class differ from it by
   *     less than the step
   * @param blocks by number, in whole words
   * @param shareCount how many shares they are divided in, each of as many words
   */
  ReadyBlocks(
      int classes,
      int intervalShift,
      long belowClasses,
      PooledBlock[] blocks,
      int shareCount,
      Stripes stripes) {
    this.intervalShift = intervalShift;
    this.belowClasses = belowClasses;
    this.stripeMask = stripes.count() - 1;
    this.stripeBits = Integer.numberOfTrailingZeros(stripes.count());
    this.fronts = new ReadyWord[classes << stripeBits];
    Arrays.fill(fronts, EMPTY);
    this.masks = new long[classes];
    this.wordOf = new int[classes];
    this.frontWords = new int[classes];
    this.candidates = new long[classes][];
    this.blocks = blocks;
    this.words = wordAt(blocks.length);
    this.shareCount = shareCount;
    this.shareWords = words / shareCount;
    this.allWords = new ReadyWord[(words + 1) << stripeBits];
    Arrays.setAll(allWords, i -> ReadyWord.of(blocks, (i >> stripeBits) * Long.SIZE));
  }

  /** A word of a stripe; the one behind the last is one that nobody looks at. */
  final ReadyWord word(int stripe, int word) {
    return allWords[word << stripeBits | stripe];
  }

  /** Lets those who find something in a stripe's words know who holds it. */
  public final void heldBy(StripeHold hold, int stripe) {
    for (int word = 0; word < words; word++) {
      word(stripe, word).heldBy(hold);
    }
  }

  /**
   * Lets {@link #front} and {@link #takeFurther} give the blocks of a size class.
   *
   * @param firstWord the first that has some, of the first share
   * @param ownWords how many are full of blocks of its own bin, from the first on
   * @param byWord what it may have, by word of a share, from the first on
   */
  final void serve(int sizeClass, int firstWord, int ownWords, long[] byWord) {
    candidates[sizeClass] = byWord.length * shareCount > 1 ? byWord : null;
    wordOf[sizeClass] = firstWord;
    frontWords[sizeClass] = Math.max(1, ownWords);
    masks[sizeClass] = ownWords > 0 ? -1L : byWord[0];
    for (int stripe = 0; stripe <= stripeMask; stripe++) {
      lookFirst(sizeClass, stripe, word(stripe, firstWord));
    }
  }

  /** Lets a stripe look first at its words of a share, for every size class. */
  final void lookAtShare(int stripe, int share) {
    for (int sizeClass = 0; sizeClass < masks.length; sizeClass++) {
      if (masks[sizeClass] != 0) {
        lookFirst(sizeClass, stripe, word(stripe, share * shareWords + wordOf[sizeClass]));
      }
    }
  }

  /** Written only if it must be: other stripes read the same cache line. */
  private void lookFirst(int sizeClass, int stripe, ReadyWord word) {
    int front = sizeClass << stripeBits | stripe;
    if (fronts[front] != word) {
      fronts[front] = word;
    }
  }

  // Methods on the quick way have at most 35 bytes of bytecode, because more is not inlined where
  // the JIT takes the caller for cold, as it does in the handler of a try-with-resources; the
  // user's handle then costs heap (see OutOfLine). HandleGarbageTest fails if one has more.

  /** {@link Stripes#current}, without the way there. */
  final int stripe() {
    return Stripes.callerNumber() & stripeMask;
  }

  /**
   * Where this thread looks first for a request: the blocks of it that {@link #mask} says.
   *
   * @param totalBytes header included, of any request: where nothing is ready if it has no class
   */
  final ReadyWord front(long totalBytes) {
    long sizeClass = classOrMore(totalBytes);
    return sizeClass < masks.length ? frontOf((int) sizeClass) : EMPTY;
  }

  private ReadyWord frontOf(int sizeClass) {
    return fronts[sizeClass << stripeBits | stripe()];
  }

  /** The blocks that a request may have of those at its {@link #front}. */
  final long mask(long totalBytes) {
    long sizeClass = classOrMore(totalBytes);
    return sizeClass < masks.length ? masks[(int) sizeClass] : 0;
  }

  /** What is too small, or too large, comes out as more than there are. */
  private long classOrMore(long totalBytes) {
    return (totalBytes - belowClasses) >>> intervalShift;
  }

  /** Takes from the {@link #front}, and no longer notes, what may be there; or gives null. */
  final PooledBlock find(long totalBytes) {
    return front(totalBytes).removeFirst(mask(totalBytes));
  }

  /** Claims a block at the {@link #front}, or gives null. */
  final PooledBlock take(long totalBytes) {
    return front(totalBytes).takeFirst(mask(totalBytes));
  }

  /** The same where nothing was at the front: looks at all words, if there are several. */
  final PooledBlock takeFurther(long totalBytes) {
    long sizeClass = classOrMore(totalBytes);
    long[] byWord = sizeClass < candidates.length ? candidates[(int) sizeClass] : null;
    PooledBlock block = null;
    for (int i = 0; byWord != null && i < byWord.length && block == null; i++) {
      block = takeFromShares((int) sizeClass, i, byWord[i]);
    }
    return block;
  }

  /** Of the word so many behind the first, in each share. */
  private PooledBlock takeFromShares(int sizeClass, int behind, long mask) {
    int stripe = stripe();
    for (int i = wordOf[sizeClass] + behind; i < words; i += shareWords) {
      ReadyWord word = word(stripe, i);
      PooledBlock block = word.takeFirst(mask);
      if (block != null) {
        if (behind < frontWords[sizeClass]) {
          lookFirst(sizeClass, stripe, word);
        }
        return block;
      }
    }
    return null;
  }

  /**
   * The size class of a request: {@link LifetimePolicy#index} of its size and the room it needs,
   * without the division.
   *
   * @param totalBytes the size, header included, over {@link LifetimePolicy#SMALL_BYTES}
   */
  final int sizeClass(long totalBytes) {
    return (int) ((totalBytes - belowClasses) >> intervalShift);
  }

  /** Has somebody told of every block that comes home from now on, or nobody if it is null. */
  final void tell(Consumer<PooledBlock> whenHome) {
    // Volatile, as are the states of the blocks: whoever comes home and does not see it yet, is
    // seen to be home by whoever looks after this. What its own thread closes looks at the word
    // only, so that comes last.
    listener = whenHome;
    for (ReadyWord word : allWords) {
      word.watch(whenHome != null);
    }
  }

  /** Whether somebody is told of blocks that come home. */
  final boolean isTold() {
    return listener != null;
  }

  /** Not 0 if {@link #settle} is to be called for a block that came home. */
  final int news() {
    return isTold() ? 1 : 0;
  }

  /** Tells of a block. */
  final void settle(PooledBlock block) {
    Consumer<PooledBlock> told = listener;
    if (told != null) {
      told.accept(block);
    }
  }

  /** What served before, of these blocks. */
  PooledBlock[] recent() {
    return RecentBlocks.NONE;
  }

  /**
   * Tells that the calling thread found a block noted that was not to be had. If it is out by what
   * served before, which leaves it noted, it goes out another way until that is learnt anew: or
   * each request that comes meanwhile would be misled.
   */
  final void passedOver(PooledBlock block) {
    RecentBlocks.forget(recent(), block);
  }

  /**
   * Claims a block that is home, whosever it is; false also if another thread was in the middle of
   * claiming it and did not get on for a while.
   */
  boolean claim(PooledBlock block) {
    return block.claim();
  }

  /** Notes a block that is home now. */
  final void put(PooledBlock block) {
    word(stripe(), wordAt(block.number())).note(block.number());
  }
}
