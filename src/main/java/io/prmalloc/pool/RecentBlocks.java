package io.prmalloc.pool;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * For each stripe and extent of a use, the block that served the last request: likely it serves the
 * next one.
 *
 * <p>Threading: any thread.
 */
final class RecentBlocks {

  private static final VarHandle BLOCK = MethodHandles.arrayElementVarHandle(PooledBlock[].class);

  // Bare arrays, for an object around one would be a load more to wait for (see QuickWay). Two
  // sizes of one place take turns in it, and mostly go without.

  /** Has nothing. */
  static final PooledBlock[] NONE = new PooledBlock[1];

  /** A stripe has so many places, as a power of two: some for each size of a large model. */
  private static final int PLACES_SHIFT = 9;

  /** 2^64 by the golden ratio: sizes are multiples of one number, and this spreads them. */
  private static final long SPREAD = 0x9E3779B97F4A7C15L;

  private RecentBlocks() {}

  /** Knows nothing yet. */
  static PooledBlock[] of(Stripes stripes) {
    return new PooledBlock[stripes.count() << PLACES_SHIFT];
  }

  /** What the calling thread had for an extent, or null. */
  static PooledBlock find(PooledBlock[] recent, long extent) {
    return recent[at(recent, extent)];
  }

  /** Of a block that has a mark: the calling thread will find it for this extent. */
  static void learn(PooledBlock[] recent, PooledBlock block, long extent) {
    int at = at(recent, extent);
    if (recent[at] != block) {
      // Release: of a block that bins got later another thread of the stripe sees all.
      BLOCK.setRelease(recent, at, block);
    }
  }

  /** The calling thread finds nothing for this extent from now on. */
  static void forget(PooledBlock[] recent, long extent) {
    recent[at(recent, extent)] = null;
  }

  /** The same for the extent that a block has now, if that is what it finds. */
  static void forget(PooledBlock[] recent, PooledBlock block) {
    int at = at(recent, block.extent());
    if (recent[at] == block) {
      recent[at] = null;
    }
  }

  private static int at(PooledBlock[] recent, long extent) {
    int size = (int) ((extent * SPREAD) >>> (Long.SIZE - PLACES_SHIFT));
    int stripe = (int) Thread.currentThread().getId() << PLACES_SHIFT;
    return (stripe + size) & (recent.length - 1);
  }
}
