package io.prmalloc.internal.freelist;

import static io.prmalloc.internal.freelist.BlockNumbers.wordAt;

import io.prmalloc.internal.block.Stripes;
import io.prmalloc.lifetime.LifetimePolicy;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/**
 * The free index of an arena's chunks, by stripe; also moves chunks from one stripe to another.
 *
 * <p>Threading: any thread.
 */
public final class ChunkIndex extends FreeIndex {

  // The thread that made the pool may never use it. So in the beginning no stripe has anything, and
  // the first thread gets all; or each of several gets its share, if the plan has as many for each.
  // Then no stripe reads the words of another one, and each finds its blocks in few words. Shares
  // that no stripe has taken serve stripes that would find no other block.
  //
  // A thread that finds nothing noted for its own stripe looks at the other stripes' words before
  // it borrows further: no block is stranded with a thread that is idle. The block that it gets
  // there belongs to its stripe from then on, so where steps repeat each thread soon has what its
  // steps need.
  //
  // A thread that borrows a larger block from its own stripe may do so while one of the right size
  // is noted for another one, perhaps of a thread that is idle. One such loan causes others, and
  // finally a large request finds no block, in every step. So each LOOKS-th request that misses,
  // whichever threads make them, gets for its stripe the blocks that were noted for other stripes
  // at all of these misses: they are not needed there. All that is noted at one time would be too
  // much: others that work would have nothing, and miss in their turn.

  /** So often {@link #gather} looks before it moves something. */
  public static final int LOOKS = 4;

  /** The blocks that were noted at each look of {@link #gather} since it moved some. */
  private final long[] idle;

  /** Plain, as the words: nearly right is enough. */
  private int looks;

  private final InitialPartition shares;
  private final Stripes stripes;

  /** By stripe, the other from which it last got something: where to look first. Plain. */
  private final int[] sources;

  /**
   * @param classes how many size classes there are
   * @param intervalShift the step between size classes, as a power of two
   * @param roomBytes what every request needs beside its size
   * @param blocks all blocks, all free, smallest first
   * @param threads how many, from 1, are to begin with as many of each size if that can be
   * @param stripes {@link Stripes#many}, but for tests
   */
  public ChunkIndex(
      int classes,
      int intervalShift,
      int roomBytes,
      List<PooledBlock> blocks,
      int threads,
      Stripes stripes) {
    this(classes, intervalShift, roomBytes, new BlockNumbers(blocks, threads, stripes), stripes);
  }

  private ChunkIndex(
      int classes, int intervalShift, int roomBytes, BlockNumbers numbers, Stripes stripes) {
    super(
        classes,
        intervalShift,
        LifetimePolicy.SMALL_BYTES + 1L - roomBytes,
        numbers.blocks(),
        numbers.shares(),
        stripes.count(),
        stripes);
    numbers.noteIn(this);
    this.stripes = stripes;
    this.shares = new InitialPartition(shareCount, stripes);
    this.sources = new int[stripes.count()];
    Arrays.setAll(sources, stripe -> stripe);
    this.idle = new long[stripes.count() * words];
    Arrays.fill(idle, -1L);
  }

  /**
   * Gives the calling thread a share of the blocks, if there is one left; answers whether so.
   *
   * @param further whether it may be one more than its first
   */
  public boolean giveShare(boolean further) {
    int stripe = stripe();
    int share = shares.next(stripe, further);
    if (share == InitialPartition.NONE) {
      return false;
    }
    Arrays.stream(blocks, (share * shareWords) << 6, ((share + 1) * shareWords) << 6)
        .filter(Objects::nonNull)
        .forEach(
            block -> {
              block.moveTo(stripe);
              put(block);
            });
    lookAtShare(stripe, share);
    return true;
  }

  /**
   * Lets {@link #removeFirst} and {@link #takeFurther} give the blocks of a size class.
   *
   * @param own how many of them are of its own bin, or of the first one if it has none
   * @param all what it may have, by number
   */
  public void serve(int sizeClass, int own, List<PooledBlock> all) {
    int word = wordAt(all.get(0).number());
    int last = wordAt(all.get(all.size() - 1).number()) % shareWords;
    long[] byWord = new long[last - word + 1];
    for (PooledBlock block : all) {
      byWord[wordAt(block.number()) % shareWords - word] |= block.bit();
    }
    serve(sizeClass, word, wordAt(own / shareCount), byWord);
  }

  /**
   * Adds a later block, which is noted at a number that no search reads. A request for it checks
   * the block itself.
   */
  public void adopt(PooledBlock later) {
    later.notedIn(this, words * Long.SIZE);
  }

  /**
   * Claims one of a bin's blocks that is noted for any stripe, the caller's first, or gives null.
   *
   * @param first the number of its first block
   * @param count how many blocks it has
   */
  public PooledBlock takeFromAny(int first, int count) {
    int own = stripe();
    PooledBlock block = takeFromStripe(own, first, count);
    for (int i = 0; i < stripes.count() && block == null; i++) {
      int source = stripes.after(sources[own], i);
      block = source == own ? null : takeFromStripe(source, first, count);
      if (block != null) {
        sources[own] = source;
      }
    }
    return block;
  }

  /** From all shares. */
  private PooledBlock takeFromStripe(int stripe, int first, int count) {
    int last = first + count / shareCount - 1;
    PooledBlock block = null;
    for (int from = 0; from < blocks.length && block == null; from += shareWords << 6) {
      block = takeFromShare(stripe, from + first, from + last);
    }
    return block;
  }

  private PooledBlock takeFromShare(int stripe, int first, int last) {
    PooledBlock block = null;
    for (int word = wordAt(first); word <= wordAt(last) && block == null; word++) {
      block = takeFrom(stripe, word, noted(stripe, word, first, last));
    }
    return block;
  }

  /**
   * A request found nothing. Each {@link #LOOKS}th time moves here what was noted for other stripes
   * at all of these times.
   */
  public void gather() {
    looks++;
    boolean last = looks % LOOKS == 0;
    int here = stripe();
    for (int stripe = 0; stripe < stripes.count(); stripe++) {
      for (int word = 0; word < words; word++) {
        int there = stripe * words + word;
        // Read once: another thread may set all bits meanwhile, also those that no block has.
        long still = idle[there] & noted(stripe, word, word << 6, (word << 6) + Long.SIZE - 1);
        idle[there] = last ? -1L : still;
        if (last && stripe != here && still != 0) {
          // A bit may belong to an allocated block.
          moveFrom(stripe, word, freeOf(word, still));
        }
      }
    }
  }

  private long freeOf(int word, long some) {
    long free = 0;
    for (long left = some; left != 0; left &= left - 1) {
      PooledBlock block = blocks[(word << 6) + Long.numberOfTrailingZeros(left)];
      free |= block.isFree() ? block.bit() : 0;
    }
    return free;
  }
}
