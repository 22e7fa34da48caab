package io.prmalloc.pool;

import static io.prmalloc.pool.BlockNumbers.wordAt;

import io.prmalloc.OutOfLine;
import io.prmalloc.lifetime.LifetimePolicy;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;

/**
 * Which chunks of the arena may be home, by stripe; and how they get from one stripe to another.
 *
 * <p>Threading: any thread.
 */
final class ReadyChunks extends ReadyBlocks implements StripeBias.Owner {

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
  // A thread that finds nothing ready looks at the other stripes' words before it borrows further:
  // no block is stranded with a thread that is idle. So memory handed from a producer to a consumer
  // comes back by theft, and what is in flight bounds what is needed. A producer has nothing ready
  // near that size, for others close what it allocates; such a thread gets all that it finds with
  // another of that size, so that the next requests are as quick as any and neither thread disturbs
  // the other for a while. Threads that run steps have something ready of such sizes; they get one
  // block, for the rest is wanted where it is.
  //
  // What a producer gets from a thread that claims nothing itself, it marks for good: its blocks
  // come back with its mark (see StripeBias), and it need but look at them. Whoever closed them has
  // their cache lines, and to wait for these is what a block costs a producer; to look at many
  // waits for as many lines side by side as the processor can, and a compare-and-set for each would
  // not. It takes what is noted before it looks: the other way round takes a tenth more, it seems
  // because the other thread notes more meanwhile, and its words have to be fetched again.
  //
  // Two producers with one consumer find each other's blocks there, and leave them. What one took
  // before it looked it has to note again; of two writes at one moment one is lost, and such a
  // block is found only by who asks the blocks themselves. So who met others' blocks the last time
  // looks first. And each first looks for what it can have without anybody's loss, in all stripes,
  // before it takes what ends another's hold.

  /** So often {@link #gather} looks before it moves something. */
  static final int LOOKS = 4;

  /** What was ready each time that {@link #gather} looked since it moved something. */
  private final long[] idle;

  /** Plain, as the words: nearly right is enough. */
  private int looks;

  private final Shares shares;
  private final Stripes stripes;

  private final StripeBias bias;
  private final PooledBlock[] recent;

  /** By stripe, the other from which it last got something: where to look first. Plain. */
  private final int[] sources;

  /** By stripe, whether others' blocks lay where it last got something. Plain. */
  private final boolean[] mixed;

  /**
   * @param classes how many size classes there are
   * @param intervalShift the step between size classes, as a power of two
   * @param roomBytes what every request needs beside its size
   * @param blocks all blocks, all at home, smallest first
   * @param threads how many, from 1, are to begin with as many of each size if that can be
   * @param stripes {@link Stripes#many}, but for tests
   */
  ReadyChunks(
      int classes,
      int intervalShift,
      int roomBytes,
      List<PooledBlock> blocks,
      int threads,
      Stripes stripes) {
    this(classes, intervalShift, roomBytes, new BlockNumbers(blocks, threads, stripes), stripes);
  }

  private ReadyChunks(
      int classes, int intervalShift, int roomBytes, BlockNumbers numbers, Stripes stripes) {
    super(
        classes,
        intervalShift,
        LifetimePolicy.SMALL_BYTES + 1L - roomBytes,
        numbers.blocks(),
        numbers.shares(),
        stripes);
    numbers.noteIn(this);
    this.stripes = stripes;
    this.recent = RecentBlocks.of(stripes);
    this.shares = new Shares(shareCount, stripes);
    this.bias = new StripeBias(stripes, blocks.length > 0, this);
    bias.tell();
    this.sources = new int[stripes.count()];
    Arrays.setAll(sources, stripe -> stripe);
    this.mixed = new boolean[stripes.count()];
    this.idle = new long[stripes.count() * words];
    Arrays.fill(idle, -1L);
  }

  /**
   * Gives the calling thread a share of the blocks, if there is one left; answers whether so.
   *
   * @param further whether it may be one more than its first
   */
  boolean giveShare(boolean further) {
    int share = shares.next(stripe(), further);
    if (share == Shares.NONE) {
      return false;
    }
    Arrays.stream(blocks, (share * shareWords) << 6, ((share + 1) * shareWords) << 6)
        .filter(Objects::nonNull)
        .forEach(this::put);
    lookAtShare(stripe(), share);
    return true;
  }

  /**
   * Lets {@link #front} and {@link #takeFurther} give the blocks of a size class.
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
    serve(sizeClass, word, wordAt(own / shareCount), byWord);
  }

  /** Takes in a block that came later, noted where nobody looks. Who wants it asks it itself. */
  void adopt(PooledBlock later) {
    later.readyIn(this, words * Long.SIZE);
  }

  @Override
  PooledBlock[] recent() {
    return recent;
  }

  @Override
  boolean claim(PooledBlock block) {
    return bias.claim(block);
  }

  @Override
  public void forEachBlock(int stripe, Consumer<PooledBlock> action) {
    for (PooledBlock block : blocks) {
      if (block != null) {
        action.accept(block);
      }
    }
  }

  /**
   * Claims one of a bin's blocks from whichever stripe has one ready, this one first, or gives
   * null. No thread loses its hold of a stripe for it if there is another block.
   *
   * @param first the number of its first block
   * @param count how many blocks it has
   */
  PooledBlock takeFromAny(int first, int count) {
    PooledBlock block = takeFromAny(first, count, false);
    return block != null ? block : takeFromAny(first, count, true);
  }

  private PooledBlock takeFromAny(int first, int count, boolean revoking) {
    int own = stripe();
    PooledBlock block = takeFromStripe(own, first, count, revoking);
    for (int i = 0; i < stripes.count() && block == null; i++) {
      int source = stripes.after(sources[own], i);
      block = takeFromStripe(source, first, count, revoking);
      if (block != null && i > 0) {
        sources[own] = source;
      }
    }
    return block;
  }

  /** From all shares. */
  private PooledBlock takeFromStripe(int stripe, int first, int count, boolean revoking) {
    // Who holds a stripe has marked nearly all that is ready there, and would have to fetch the
    // cache lines again that somebody looked at.
    if (!revoking && bias.isHeldByAnother(stripe)) {
      return null;
    }
    int own = stripe();
    int last = first + count / shareCount - 1;
    PooledBlock block = null;
    for (int from = 0; from < blocks.length && block == null; from += shareWords << 6) {
      block = takeFromShare(stripe, own, from + first, from + last, revoking);
    }
    return block;
  }

  private PooledBlock takeFromShare(int stripe, int own, int first, int last, boolean revoking) {
    boolean all = isAnyReady(stripe, first, last) && isNothingNear(own, first, last);
    if (all && !revoking) {
      moveAll(stripe, own, first, last);
      return takeReady(own, first, last);
    }
    PooledBlock block = takeOne(stripe, first, last, revoking);
    if (all && block != null) {
      moveAll(stripe, own, first, last);
    }
    return block;
  }

  private boolean isAnyReady(int stripe, int first, int last) {
    long ready = 0;
    for (int word = wordAt(first); word <= wordAt(last); word++) {
      ready |= word(stripe, word).bits(first, last);
    }
    return ready != 0;
  }

  /** Whether nothing is ready in or beside the words of some blocks. */
  private boolean isNothingNear(int stripe, int first, int last) {
    long near = 0;
    for (int word = wordAt(first) - 1; word <= wordAt(last) + 1; word++) {
      near |= word >= 0 && word < words ? word(stripe, word).bits() : 0;
    }
    return near == 0;
  }

  private PooledBlock takeReady(int stripe, int first, int last) {
    PooledBlock block = null;
    for (int word = wordAt(first); word <= wordAt(last) && block == null; word++) {
      ReadyWord ready = word(stripe, word);
      block = ready.takeFirst(ready.bits(first, last));
    }
    return block;
  }

  private PooledBlock takeOne(int stripe, int first, int last, boolean revoking) {
    StripeHold hold = bias.holdOf(stripe());
    for (int word = wordAt(first); word <= wordAt(last); word++) {
      ReadyWord ready = word(stripe, word);
      for (long found = ready.bits(first, last); found != 0; found &= found - 1) {
        if (!revoking && !hold.mayHave(ready.block(found))) {
          ready.forgetIfOut(ready.block(found));
          continue;
        }
        PooledBlock block = ready.removeAtomically(found);
        if (claim(block)) {
          return block;
        }
      }
    }
    return null;
  }

  /** Notes here, where nothing is ready, what lies ready there and may be had. */
  private void moveAll(int from, int to, int first, int last) {
    boolean lasting = bias.mayLast(from, to);
    vacate(from);
    boolean left = false;
    if (!mixed[to]) {
      takeAll(from, to, first, last);
      for (int word = wordAt(first); word <= wordAt(last); word++) {
        left |= giveBackOthers(from, to, word, word(to, word).bits(first, last), lasting);
      }
    } else {
      for (int word = wordAt(first); word <= wordAt(last); word++) {
        left |= move(from, to, word, word(from, word).bits(first, last), lasting);
      }
    }
    if (mixed[to] != left) {
      mixed[to] = left;
    }
  }

  /** Notes here what lies ready there, whatever it is. */
  private void takeAll(int from, int to, int first, int last) {
    for (int word = wordAt(first); word <= wordAt(last); word++) {
      ReadyWord there = word(from, word);
      long some = there.bits(first, last);
      there.removeAll(some);
      word(to, word).noteAll(some);
    }
  }

  /** Of what was taken as it lay, notes there again what is another's; answers whether any is. */
  private boolean giveBackOthers(int from, int to, int word, long taken, boolean lasting) {
    ReadyWord here = word(to, word);
    long rest = taken & ~bias.holdOf(to).mark(taken, lasting, here, OutOfLine.DEPTH);
    if (rest == 0) {
      return false;
    }
    here.removeAll(rest);
    // What is out is noted by whoever closes it.
    long others = atHome(here, rest);
    word(from, word).noteAllAtomically(others);
    return others != 0;
  }

  /** Notes here what of some blocks may be had; answers whether there are others. */
  private boolean move(int from, int to, int word, long some, boolean lasting) {
    ReadyWord here = word(to, word);
    long had = bias.holdOf(to).mark(some, lasting, here, OutOfLine.DEPTH);
    here.noteAll(had);
    word(from, word).removeAll(had);
    return had != some;
  }

  /** Takes the marks off what another thread holds in a stripe, by ending its hold. */
  private void vacate(int stripe) {
    if (bias.isHeldByAnother(stripe)) {
      bias.revoke(stripe);
    }
  }

  /** As {@link StripeBias#endHoldsOfEnded}. */
  void endHoldsOfEnded() {
    bias.endHoldsOfEnded();
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
        int there = stripe * words + word;
        long bits = word(stripe, word).bits();
        idle[there] &= bits;
        if (last) {
          if (stripe != here) {
            // Another thread may just have set all bits of what is idle, also of what is not ready.
            moveIdle(stripe, here, word, atHome(word(stripe, word), idle[there] & bits));
          }
          idle[there] = -1L;
        }
      }
    }
  }

  private void moveIdle(int from, int to, int word, long idle) {
    if (idle != 0) {
      boolean lasting = bias.mayLast(from, to);
      vacate(from);
      move(from, to, word, idle, lasting);
    }
  }

  /** Those of some blocks that are home: what is out may be noted, too. */
  private static long atHome(ReadyWord word, long some) {
    long home = 0;
    for (long left = some; left != 0; left &= left - 1) {
      PooledBlock block = word.block(left);
      home |= block.isAtHome() ? block.bit() : 0;
    }
    return home;
  }

  /** Makes the calling thread the holder of its stripe now, if there is none and it may be. */
  void takeHold() {
    bias.takeOrEndHold(stripe(), 0);
  }
}
