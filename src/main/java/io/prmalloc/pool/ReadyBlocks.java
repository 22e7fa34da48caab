package io.prmalloc.pool;

import static io.prmalloc.pool.BlockNumbers.wordAt;

import io.prmalloc.lifetime.LifetimePolicy;
import java.util.Arrays;
import java.util.function.Consumer;

/**
 * Which blocks may be home, a bit for each, by stripe: where every request looks first, and what
 * every close writes. Of an arena, {@link ReadyChunks}.
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
  //   ready   stripe 0:  | blocks 0 to 63 | blocks 64 to 127 | ... | words to look at
  //           stripe 1:  | blocks 0 to 63 | blocks 64 to 127 | ... | words to look at
  //
  // A thread sets the bit of what it closes in the words of its own stripe and takes from there: it
  // gets a block that it just had in its cache, and no other thread's close touches the same line.
  // In front of the first stripe there is room for another, for there lies the length of the array,
  // which all threads read each time. The chunks of an arena have as many stripes (ReadyChunks),
  // the slots of a slab but one: a slab serves few threads. Both are looked for and come home by
  // the same code, or there would be too much of it for the JIT to inline.
  //
  // Blocks are numbered by size, so the lowest bit that is set among those of a size class and of
  // the bins that it may borrow from is the block to take: its own bin's if there is one, else the
  // smallest. That is a mask for each word, from that of its first block on. The quick way looks at
  // one; a bin that is not all in what is left of a word begins with the next, so its own blocks
  // are there. Who finds none of them goes on, the slow way, to those it may borrow.
  //
  // A bin may have more blocks than a word has bits. Whoever takes them one by one, as a producer
  // does, would go the slow way for all but one word's. So behind the words of a stripe is one that
  // says which of them to look at, and the quick way looks at the first of those that are full of
  // blocks of the request's own bin. A close notes nothing there, for it has no room to spare (see
  // OutOfLine): what is noted is as it was when a thread last went the slow way, which it does once
  // for each word that it finds empty. A block that lies where nobody was told to look is no loss
  // meanwhile, because the one that is found is as good.
  //
  // What races do. Two threads on one stripe, or a thief and the owner, may both read a word before
  // either writes it. Then
  //   - both go for one block: one of them wins the claim, the other looks on;
  //   - a bit that was set is lost: a block is home and nowhere ready;
  //   - a bit that was cleared comes back: who goes for that block finds it busy, and clears it.
  // A free block that is nowhere ready is found by who asks the blocks themselves, before any
  // request goes to the system: Buffer.claimAny, BlockStack.gather.
  //
  // Memory order: the words are plain, for nothing is concluded from them. `blocks` is filled
  // before the table that holds this object is published; of a slab, by release stores as its slots
  // are made, and what is read of a slot depends on the reference that was read.

  /** Two cache lines, which some processors fetch in pairs: no two stripes share them. */
  private static final int LEAST_WORDS = 16;

  /** Of so many words a stripe notes whether to look there. Behind them it is not asked. */
  static final int MOST_NOTED = Long.SIZE;

  private static final StripeHold[] HELD_BY_NOBODY = {StripeHold.never()};

  /** Has nothing for anybody. */
  static final ReadyBlocks NONE =
      new ReadyBlocks(0, 1, 0, new PooledBlock[0], 1, new Stripes(1), HELD_BY_NOBODY);

  final long[] ready;

  /** By number; null where none has it. */
  final PooledBlock[] blocks;

  /** By stripe. */
  final StripeHold[] holds;

  final int stripeMask;
  private final int stripeShift;
  final int words;

  final int shareCount;

  /** How many words are of one share, in each of which the same bins lie alike. */
  final int shareWords;

  private final int intervalShift;

  /** What is taken off a size before it is shifted. */
  private final long belowClasses;

  /** By size class: the blocks of one word that it may have. */
  private final long[] masks;

  /** By size class: which word that is, the first of those that {@link #candidates} has. */
  private final int[] wordOf;

  /** By size class: that word, as 1, and further ones of which it may have as much. Never 0. */
  private final long[] likeWords;

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
   * @param holds one for each stripe; none if there are no blocks
   */
  ReadyBlocks(
      int classes,
      int intervalShift,
      long belowClasses,
      PooledBlock[] blocks,
      int shareCount,
      Stripes stripes,
      StripeHold[] holds) {
    this.intervalShift = intervalShift;
    this.belowClasses = belowClasses;
    this.stripeMask = stripes.count() - 1;
    this.masks = new long[classes];
    this.wordOf = new int[classes];
    this.likeWords = new long[classes];
    Arrays.fill(likeWords, 1);
    this.candidates = new long[classes][];
    this.blocks = blocks;
    this.holds = holds;
    this.words = wordAt(blocks.length);
    this.shareCount = shareCount;
    this.shareWords = words / shareCount;
    int apart = words + (words > 1 ? 1 : 0) + LEAST_WORDS - 1;
    this.stripeShift = Integer.SIZE - Integer.numberOfLeadingZeros(apart - 1);
    this.ready = new long[(stripes.count() + 1) << stripeShift];
    for (int stripe = 0; stripe < stripes.count() && words > 1; stripe++) {
      ready[at(stripe, words)] = -1L;
    }
  }

  /**
   * Of equal blocks, which all threads share: there is one size class, of all sizes.
   *
   * @param blocks by number, in 1 to {@link #MOST_NOTED} whole words; may be filled later
   */
  static ReadyBlocks ofEqual(PooledBlock[] blocks) {
    ReadyBlocks all =
        new ReadyBlocks(1, Long.SIZE - 2, 0, blocks, 1, new Stripes(1), HELD_BY_NOBODY);
    long[] byWord = new long[all.words];
    Arrays.fill(byWord, -1L);
    all.serve(0, 0, all.words, byWord);
    return all;
  }

  /**
   * Lets {@link #find} and {@link #takeFurther} give the blocks of a size class.
   *
   * @param firstWord the first that has some, of the first share
   * @param ownWords how many are full of blocks of its own bin, from the first on
   * @param byWord what it may have, by word of a share, from the first on
   */
  final void serve(int sizeClass, int firstWord, int ownWords, long[] byWord) {
    candidates[sizeClass] = byWord.length * shareCount > 1 ? byWord : null;
    wordOf[sizeClass] = firstWord;
    // The words that are full, as far as they are noted. If there are none, the first.
    int count = Math.min(ownWords, MOST_NOTED - firstWord);
    masks[sizeClass] = count > 0 ? -1L : byWord[0];
    long like = count > 0 ? -1L >>> -count : 1;
    for (int share = 1; share < shareCount; share++) {
      like |= like << shareWords;
    }
    likeWords[sizeClass] = like;
  }

  // Methods on the common way have at most 35 bytes of bytecode, because more is not inlined where
  // the JIT takes the caller for cold, as it does in the handler of a try-with-resources; the
  // user's handle then costs heap (see OutOfLine). HandleGarbageTest fails if one has more.

  /** {@link Stripes#current}, without the way there. */
  final int stripe() {
    return (int) Thread.currentThread().getId() & stripeMask;
  }

  final int at(int stripe, int word) {
    return ((stripe + 1) << stripeShift) | word;
  }

  /**
   * A block for a request that this stripe has ready, no longer noted here and not yet claimed, or
   * null. Looks at one word only; more would be too much code for the common way (see OutOfLine).
   *
   * @param totalBytes header included, of any request: whatever has no class here finds nothing
   */
  final PooledBlock find(long totalBytes) {
    // What is too small comes out as huge here.
    long sizeClass = (totalBytes - belowClasses) >>> intervalShift;
    return sizeClass < masks.length ? findOf((int) sizeClass) : null;
  }

  private PooledBlock findOf(int sizeClass) {
    // The word could be looked for in any case, but the processor would wait for that. It guesses
    // the answer to a question, and goes on: a pair takes a fifth less.
    return words == 1 ? findIn(0, masks[sizeClass]) : findNoted(sizeClass);
  }

  private PooledBlock findNoted(int sizeClass) {
    return findIn(firstNoted(wordOf[sizeClass], likeWords[sizeClass]), masks[sizeClass]);
  }

  /** The first of some words where to look, or the last of them if that is noted of none. */
  private int firstNoted(int first, long some) {
    long noted = (ready[at(stripe(), words)] >>> first) & some;
    return first + Long.numberOfTrailingZeros(noted | Long.highestOneBit(some));
  }

  private PooledBlock findIn(int word, long mask) {
    return removeFirst(at(stripe(), word), word, mask);
  }

  private PooledBlock removeFirst(int at, int word, long mask) {
    long found = ready[at] & mask;
    return found != 0 ? remove(at, word, found) : null;
  }

  /** Of some blocks that are noted in a word, the first, which is no longer noted then. */
  final PooledBlock remove(int at, int word, long found) {
    ready[at] &= ~(found & -found);
    return blockAt(word, found);
  }

  final PooledBlock blockAt(int word, long found) {
    return blocks[(word << 6) + Long.numberOfTrailingZeros(found)];
  }

  /**
   * Claims what {@link #find} found, and begins a use of it. Not of blocks that are isolated.
   *
   * @param block may be null
   * @return the stamp of the use, or 0: then it could not be had
   */
  final long open(PooledBlock block, long bytes) {
    return block == null ? 0 : holds[stripe()].open(block, (int) bytes);
  }

  /** Claims what {@link #find} finds, or gives null. */
  final PooledBlock take(long totalBytes) {
    return claimFound(find(totalBytes));
  }

  private PooledBlock claimFound(PooledBlock block) {
    return block == null ? null : holds[stripe()].claim(block);
  }

  /** The same where {@link #find} found nothing: looks at all words, if there are several. */
  final PooledBlock takeFurther(long totalBytes) {
    int sizeClass = sizeClass(totalBytes);
    long[] all = sizeClass < candidates.length ? candidates[sizeClass] : null;
    int count = all == null ? 0 : all.length;
    int stripe = stripe();
    PooledBlock block = null;
    for (int i = 0; i < count && block == null; i++) {
      for (int word = wordOf[sizeClass] + i; word < words && block == null; word += shareWords) {
        block = takeNoting(stripe, word, all[i]);
      }
    }
    return block;
  }

  /** Notes whether it is of use to look at a word, too. */
  private PooledBlock takeNoting(int stripe, int word, long mask) {
    note(stripe, word, ready[at(stripe, word)] != 0);
    return claimFound(findIn(word, mask));
  }

  final void note(int stripe, int word, boolean look) {
    if (word < MOST_NOTED) {
      int at = at(stripe, words);
      long others = ready[at] & ~(1L << word);
      ready[at] = look ? others | (1L << word) : others;
    }
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
    // seen to be home by whoever looks after this.
    listener = whenHome;
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

  /** Claims a block that is home, whosever it is. */
  boolean claim(PooledBlock block) {
    return block.claim();
  }

  /** Notes a block that is home now. */
  final void put(PooledBlock block) {
    ready[at(stripe(), wordAt(block.number()))] |= block.bit();
  }
}
