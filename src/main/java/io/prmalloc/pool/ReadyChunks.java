package io.prmalloc.pool;

import static io.prmalloc.pool.BlockNumbers.wordAt;

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

  /** So often {@link #gather} looks before it moves something. */
  static final int LOOKS = 4;

  /** What was ready each time that {@link #gather} looked since it moved something. */
  private final long[] idle;

  /** Plain, as the words: nearly right is enough. */
  private int looks;

  private final Shares shares;
  private final Stripes stripes;

  private final StripeBias bias;
  private final LineFetch lines = new LineFetch();
  private final PooledBlock[] recent;

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
   * null.
   *
   * @param first the number of its first block
   * @param count how many blocks it has
   */
  PooledBlock takeFromAny(int first, int count) {
    int own = stripe();
    int last = first + count / shareCount - 1;
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
      ReadyWord there = word(stripe, word);
      for (long found = there.bits(first, last); found != 0; found &= found - 1) {
        PooledBlock block = there.removeAtomically(found);
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
      near |= word(here, word).bits();
    }
    for (int word = fromWord; near == 0 && word <= lastWord; word++) {
      move(stripe, here, word, word(stripe, word).bits(first, last));
    }
  }

  private void move(int from, int to, int word, long found) {
    if (found != 0) {
      if (bias.holdOf(from).isSomebodys()) {
        bias.revoke(from);
      }
      ReadyWord mine = word(to, word);
      word(from, word).moveTo(mine, found);
      lines.fetch(bias.holdOf(to), mine, found);
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
        int there = stripe * words + word;
        long bits = word(stripe, word).bits();
        idle[there] &= bits;
        if (last) {
          if (stripe != here) {
            // Another thread may just have set all bits of what is idle, also of what is not ready.
            move(stripe, here, word, atHome(word(stripe, word), idle[there] & bits));
          }
          idle[there] = -1L;
        }
      }
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
