package io.prmalloc.pool;

import static io.prmalloc.pool.BlockNumbers.maskOf;
import static io.prmalloc.pool.BlockNumbers.wordAt;

import io.prmalloc.Block;
import io.prmalloc.lifetime.LifetimePolicy;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/**
 * Where to look for a free block: a bit for each that came home, by stripe.
 *
 * <p>Threading: any thread.
 */
final class ReadyBlocks {

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
  // which all threads read each time.
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
  // A thread that borrows a larger block from its own stripe may do so while one of the right size
  // lies ready in another, perhaps of a thread that is idle. One such loan makes others, and in the
  // end a large request finds nothing, in every step. So a thread that misses some requests gets
  // what lay ready with others each time: nobody needs it there. Where steps repeat, each thread
  // soon has what its steps need. All that is ready at one time would be too much: others that work
  // would have nothing, and miss in their turn.
  //
  // The thread that made the pool may never use it. So in the beginning no stripe has anything, and
  // the first thread gets all; or each of several gets its share, if the plan has as many for each.
  // Then none ever looks at what another one has, and finds its own in few words. What nobody came
  // for goes to whoever would find nothing else.
  //
  // What races do. Two threads on one stripe, or a thief and the owner, may both read a word before
  // either writes it. Then
  //   - both go for one block: one of them wins the claim, the other looks on;
  //   - a bit that was set is lost: a block is home and nowhere ready;
  //   - a bit that was cleared comes back: who goes for that block finds it busy, and clears it.
  // A free block that is nowhere ready is found by Buffer.claimAny, which asks the blocks
  // themselves, before any request goes to the system.
  //
  // A thread that finds nothing ready looks at the other stripes' words before it borrows further:
  // no block is stranded with a thread that is idle. So memory handed from a producer to a consumer
  // comes back by theft, and what is in flight bounds what is needed. A producer has nothing ready
  // near that size, for others close what it allocates; such a thread gets all that it finds with
  // another of that size, so that the next requests are as quick as any and neither thread disturbs
  // the other for a while. Threads that run steps have something ready of such sizes; they get one
  // block, for the rest is wanted where it is.
  //
  // Memory order: the words are plain, for nothing is concluded from them. `blocks` is filled
  // before the table that holds this object is published.

  /** Two cache lines, which some processors fetch in pairs: no two stripes share them. */
  private static final int LEAST_WORDS = 16;

  /** Of so many words a stripe notes whether to look there. Behind them it is not asked. */
  private static final int MOST_NOTED = Long.SIZE;

  /** So often {@link #gather} looks before it moves something. */
  static final int LOOKS = 4;

  /** Has nothing for anybody. */
  static final ReadyBlocks NONE = new ReadyBlocks(0, 1, 0, List.of(), 1, new Stripes(0));

  private final long[] ready;

  /** What was ready each time that {@link #gather} looked since it moved something. */
  private final long[] idle;

  /** Plain, as the words: nearly right is enough. */
  private int looks;

  private final Shares shares;

  private final Stripes stripes;

  /** By stripe. */
  private final StripeHold[] holds;

  private final StripeBias bias;

  private final int stripeMask;
  private final int stripeShift;
  private final int words;

  /** How many of these are of one share, in each of which the same bins lie alike. */
  private final int shareWords;

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

  /** Told of every block that comes home; null but for a plan that was replaced. */
  private volatile Runnable listener;

  /** By number; null where none has it. */
  private final PooledBlock[] blocks;

  /**
   * @param classes how many size classes there are
   * @param intervalShift the step between size classes, as a power of two
   * @param roomBytes what every request needs beside its size
   * @param blocks all blocks, all at home, smallest first
   * @param threads how many, from 1, are to begin with as many of each size if that can be
   * @param stripes {@link Stripes#many}, but for tests
   */
  ReadyBlocks(
      int classes,
      int intervalShift,
      int roomBytes,
      List<PooledBlock> blocks,
      int threads,
      Stripes stripes) {
    this.intervalShift = intervalShift;
    this.belowClasses = LifetimePolicy.SMALL_BYTES + 1L - roomBytes;
    this.stripes = stripes;
    this.stripeMask = stripes.count() - 1;
    this.masks = new long[classes];
    this.wordOf = new int[classes];
    this.likeWords = new long[classes];
    Arrays.fill(likeWords, 1);
    this.candidates = new long[classes][];
    int dividers = threads <= stripes.count() ? threads : 1;
    BlockNumbers numbers = new BlockNumbers(blocks, this, dividers, MOST_NOTED);
    this.blocks = numbers.blocks();
    this.shares = new Shares(numbers.shares(), stripes);
    this.shareWords = numbers.words();
    this.words = wordAt(this.blocks.length);
    int apart = words + (words > 1 ? 1 : 0) + LEAST_WORDS - 1;
    this.stripeShift = Integer.SIZE - Integer.numberOfLeadingZeros(apart - 1);
    this.ready = new long[(stripes.count() + 1) << stripeShift];
    this.holds = new StripeHold[blocks.isEmpty() ? 0 : stripes.count()];
    this.bias = new StripeBias(holds);
    this.idle = new long[ready.length];
    Arrays.fill(idle, -1L);
    for (int stripe = 0; stripe < stripes.count() && words > 1; stripe++) {
      ready[at(stripe, words)] = -1L;
    }
  }

  /**
   * Gives the calling thread a share of the blocks, if there is one left; answers whether so.
   *
   * @param further whether it may be one more than its first
   */
  boolean giveShare(boolean further) {
    int stripe = stripe();
    int share = shares.next(stripe, further);
    if (share == Shares.NONE) {
      return false;
    }
    Arrays.stream(blocks, (share * shareWords) << 6, ((share + 1) * shareWords) << 6)
        .filter(Objects::nonNull)
        .forEach(this::put);
    for (int word = 0; word < words; word++) {
      note(stripe, word, ready[at(stripe, word)] != 0);
    }
    return true;
  }

  /** Takes in a block that came later. Who wants it asks the block itself. */
  void adopt(PooledBlock later) {
    // Noted in a word that nobody looks at: there are always some between two stripes.
    later.readyIn(this, (words + 1) << 6);
  }

  /**
   * Lets {@link #find} and {@link #takeFurther} give the blocks of a size class.
   *
   * @param own how many of them are of its own bin, or of the first one if it has none
   * @param all what it may have, by number
   */
  void serve(int sizeClass, int own, List<PooledBlock> all) {
    int word = wordAt(all.get(0).number());
    int last = wordAt(all.get(all.size() - 1).number()) % shareWords;
    long[] byWord = new long[last - word + 1];
    for (PooledBlock block : all) {
      byWord[wordAt(block.number()) % shareWords - word] |= block.bit();
    }
    candidates[sizeClass] = byWord.length * shares.count() > 1 ? byWord : null;
    wordOf[sizeClass] = word;
    // Words full of the bin's own blocks, as far as they are noted: where there are such, the bin
    // begins with one. If there are none, the first.
    int count = Math.min(wordAt(own / shares.count()), MOST_NOTED - word);
    masks[sizeClass] = count > 0 ? -1L : byWord[0];
    long like = count > 0 ? -1L >>> -count : 1;
    for (int share = 1; share < shares.count(); share++) {
      like |= like << shareWords;
    }
    likeWords[sizeClass] = like;
  }

  // Methods on the common way have at most 35 bytes of bytecode, because more is not inlined where
  // the JIT takes the caller for cold, as it does in the handler of a try-with-resources; the
  // user's handle then costs heap (see OutOfLine). HandleGarbageTest fails if one has more.

  /** {@link Stripes#current}, without the way there. */
  private int stripe() {
    return (int) Thread.currentThread().getId() & stripeMask;
  }

  private int at(int stripe, int word) {
    return ((stripe + 1) << stripeShift) | word;
  }

  /**
   * A block for a request that this stripe has ready, no longer noted here and not yet claimed, or
   * null. Looks at one word only; more would be too much code for the common way (see OutOfLine).
   *
   * @param totalBytes header included, of any request: whatever has no class here finds nothing
   */
  PooledBlock find(long totalBytes) {
    // What is too small comes out as huge here.
    long sizeClass = (totalBytes - belowClasses) >>> intervalShift;
    return sizeClass < masks.length ? findOf((int) sizeClass) : null;
  }

  private PooledBlock findOf(int sizeClass) {
    return findOf(stripe(), sizeClass);
  }

  private PooledBlock findOf(int stripe, int sizeClass) {
    // The word could be looked for in any case, but the processor would wait for that. It guesses
    // the answer to a question, and goes on: a pair takes a fifth less.
    return words == 1 ? findIn(stripe, 0, masks[sizeClass]) : findNoted(stripe, sizeClass);
  }

  private PooledBlock findNoted(int stripe, int sizeClass) {
    int word = firstNoted(stripe, wordOf[sizeClass], likeWords[sizeClass]);
    return findIn(stripe, word, masks[sizeClass]);
  }

  /** The first of some words where to look, or the last of them if that is noted of none. */
  private int firstNoted(int stripe, int first, long some) {
    long noted = (ready[at(stripe, words)] >>> first) & some;
    return first + Long.numberOfTrailingZeros(noted | Long.highestOneBit(some));
  }

  private PooledBlock findIn(int stripe, int word, long mask) {
    return removeFirst(at(stripe, word), word, mask);
  }

  private PooledBlock removeFirst(int at, int word, long mask) {
    long found = ready[at] & mask;
    return found != 0 ? remove(at, word, found) : null;
  }

  private PooledBlock remove(int at, int word, long found) {
    ready[at] &= ~(found & -found);
    return blockAt(word, found);
  }

  private PooledBlock blockAt(int word, long found) {
    return blocks[(word << 6) + Long.numberOfTrailingZeros(found)];
  }

  /**
   * Claims what {@link #find} found, and begins a use of it. Not of blocks that are isolated.
   *
   * @param block may be null
   * @return the stamp of the use, or 0: then it could not be had
   */
  long open(PooledBlock block, long bytes) {
    return block == null ? 0 : holds[stripe()].open(block, (int) bytes);
  }

  /** Claims what {@link #find} finds, or gives null. */
  PooledBlock take(long totalBytes) {
    return claimFound(find(totalBytes));
  }

  private PooledBlock claimFound(PooledBlock block) {
    return block == null ? null : holds[stripe()].claim(block);
  }

  /** The same where {@link #find} found nothing: looks at all words, if there are several. */
  PooledBlock takeFurther(long totalBytes) {
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
    return claimFound(findIn(stripe, word, mask));
  }

  private void note(int stripe, int word, boolean look) {
    if (word < MOST_NOTED) {
      int at = at(stripe, words);
      long others = ready[at] & ~(1L << word);
      ready[at] = look ? others | (1L << word) : others;
    }
  }

  /**
   * Claims a block that is home, also one that is another thread's for less: then that thread loses
   * its hold on its stripe.
   *
   * @return false if it is not home, or that thread did not get out of the way for a while
   */
  boolean claim(PooledBlock block) {
    return block.claim()
        || holds[stripe()].claimMarked(block)
        || (revokeFor(block) && block.claim());
  }

  private boolean revokeFor(PooledBlock block) {
    long stamp = block.stamp();
    return Block.isHome(stamp)
        && Block.isMarked(stamp)
        && bias.revoke(Block.markerOf(stamp) & stripeMask, blocks);
  }

  /**
   * Claims one of a bin's blocks from whichever stripe has one ready, this one first, or gives
   * null.
   *
   * @param first the number of its first block
   * @param count how many blocks it has
   */
  PooledBlock takeFromAny(int first, int count) {
    int own = stripe();
    int last = first + count / shares.count() - 1;
    int apart = shareWords << 6;
    PooledBlock block = null;
    for (int i = 0; i < stripes.count() && block == null; i++) {
      for (int from = 0; from < blocks.length && block == null; from += apart) {
        block = takeFromStripe(stripes.after(own, i), from + first, from + last);
      }
    }
    return block;
  }

  private PooledBlock takeFromStripe(int stripe, int first, int last) {
    for (int word = wordAt(first); word <= wordAt(last); word++) {
      int at = at(stripe, word);
      for (long found = ready[at] & maskOf(word, first, last); found != 0; found &= found - 1) {
        ready[at] &= ~(found & -found);
        PooledBlock block = blockAt(word, found);
        if (claim(block)) {
          moveFrom(stripe, word, first, last);
          return block;
        }
      }
    }
    return null;
  }

  /** Notes here what lies ready there, from a word on, if here is nothing in or beside those. */
  private void moveFrom(int stripe, int fromWord, int first, int last) {
    int here = stripe();
    int lastWord = wordAt(last);
    long near = 0;
    for (int word = Math.max(fromWord - 1, 0); word <= Math.min(lastWord + 1, words - 1); word++) {
      near |= ready[at(here, word)];
    }
    for (int word = fromWord; near == 0 && word <= lastWord; word++) {
      move(stripe, here, word, ready[at(stripe, word)] & maskOf(word, first, last));
    }
  }

  private void move(int from, int to, int word, long found) {
    if (found != 0) {
      if (holds[from].isSomebodys()) {
        bias.revoke(from, blocks);
      }
      ready[at(from, word)] &= ~found;
      ready[at(to, word)] |= found;
      note(to, word, true);
      fetch(to, word, found);
    }
  }

  /**
   * Makes blocks this stripe's own. Whoever closed them has their cache lines, and to claim them
   * one by one is to wait for each; the writes of the first round wait for nothing, and the lines
   * come side by side.
   */
  private void fetch(int stripe, int word, long found) {
    for (long left = found; left != 0; left &= left - 1) {
      blockAt(word, left).touch();
    }
    for (long left = found; left != 0; left &= left - 1) {
      holds[stripe].mark(blockAt(word, left));
    }
  }

  /**
   * A request found nothing. Each {@link #LOOKS}th time notes here what other stripes had ready at
   * all of these times.
   */
  void gather() {
    looks++;
    boolean last = looks % LOOKS == 0;
    int here = stripe();
    for (int stripe = 0; stripe < stripes.count(); stripe++) {
      for (int word = 0; word < words; word++) {
        int there = at(stripe, word);
        idle[there] &= ready[there];
        if (last) {
          if (stripe != here) {
            // Another thread may just have set all bits of what is idle, also of what is not ready.
            move(stripe, here, word, idle[there] & ready[there]);
          }
          idle[there] = -1L;
        }
      }
    }
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

  /** Makes the calling thread the holder of its stripe now, if there is none and it may be. */
  void takeHold() {
    bias.takeHold(stripe(), 0);
  }

  /** Notes a block that is home now. */
  void put(PooledBlock block) {
    ready[at(stripe(), wordAt(block.number()))] |= block.bit();
  }
}
