package io.prmalloc.pool;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * For each stripe and size, the block that served the last request: likely it serves the next one.
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

  /** What the calling thread had for a size, or null. */
  static PooledBlock find(PooledBlock[] recent, long bytes) {
    return recent[at(recent, bytes)];
  }

  /** Of a block that has a mark: the calling thread will find it for this size. */
  static void learn(PooledBlock[] recent, PooledBlock block, long bytes) {
    int at = at(recent, bytes);
    if (recent[at] != block) {
      // Release: of a block that bins got later another thread of the stripe sees all.
      BLOCK.setRelease(recent, at, block);
    }
  }

  /** The calling thread finds nothing for this size from now on. */
  static void forget(PooledBlock[] recent, long bytes) {
    recent[at(recent, bytes)] = null;
  }

  /** The same for the size that a block has now, if that is what it finds. */
  static void forget(PooledBlock[] recent, PooledBlock block) {
    int at = at(recent, block.sizeBytes());
    if (recent[at] == block) {
      recent[at] = null;
    }
  }

  private static int at(PooledBlock[] recent, long bytes) {
    int size = (int) ((bytes * SPREAD) >>> (Long.SIZE - PLACES_SHIFT));
    int stripe = (int) Thread.currentThread().getId() << PLACES_SHIFT;
    return (stripe + size) & (recent.length - 1);
  }
}
