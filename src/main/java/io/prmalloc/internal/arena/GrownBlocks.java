package io.prmalloc.internal.arena;

import io.prmalloc.SubAllocator;
import io.prmalloc.internal.block.BlockIsolation;
import io.prmalloc.internal.freelist.PooledBlock;
import java.util.Arrays;
import java.util.Comparator;
import java.util.stream.Stream;

/**
 * The blocks that bins of a plan got later (see {@code Growth}), each in memory of its own.
 *
 * <p>Threading: any thread.
 */
final class GrownBlocks {

  /**
   * A block more.
   *
   * @param buffer has this block only
   * @param arena where it is
   */
  record Grown(Buffer buffer, Arena arena) {

    PooledBlock block() {
      return buffer.blocks().get(0);
    }
  }

  /** Smallest first. Replaced as a whole. */
  private volatile Grown[] all = {};

  private volatile long bytes;

  /**
   * Reserves memory for a block like those of a buffer.
   *
   * @throws io.prmalloc.OutOfNativeMemoryException if it is not available
   */
  static Grown reserve(Buffer like, SubAllocator source, BlockIsolation isolation) {
    Arena.Layout layout = new Arena.Layout(like.strideBytes(), 1, isolation);
    Arena.Place[] place = {layout.place(like.strideBytes(), like.alignment())};
    Arena arena = Arena.reserve(source, layout, region -> {});
    try {
      return new Grown(
          new Buffer(like.bin(), like.strideBytes(), like.alignment(), place, arena), arena);
    } catch (Throwable e) {
      arena.free();
      throw e;
    }
  }

  /** Those that there are and one more, for {@link #set}. */
  Grown[] with(Grown more) {
    return Stream.concat(Arrays.stream(all), Stream.of(more))
        .sorted(Comparator.comparingLong(grown -> grown.buffer().strideBytes()))
        .toArray(Grown[]::new);
  }

  /** Publishes them. Takes no heap. One thread at a time. */
  @SuppressWarnings("NonAtomicVolatileUpdate") // one thread at a time
  void set(Grown[] grown, long moreBytes) {
    bytes += moreBytes;
    all = grown;
  }

  /**
   * Claims the smallest that is free and large enough, or gives null.
   *
   * @param chunkBytes the size, and all that its chunk needs beside it
   */
  PooledBlock take(long chunkBytes, int alignment) {
    for (Grown grown : all) {
      Buffer buffer = grown.buffer();
      if (buffer.strideBytes() >= chunkBytes
          && buffer.alignment() >= alignment
          && grown.block().claim()) {
        return grown.block();
      }
    }
    return null;
  }

  /** Whether one has no memory. A loop, for every request that misses asks. */
  boolean isAnyLacking() {
    for (Grown grown : all) {
      if (grown.arena().isAnyLacking()) {
        return true;
      }
    }
    return false;
  }

  /** Gives the memory of this one and of all after it back, whatever is thrown on the way. */
  void free(int first) {
    Grown[] grown = all;
    for (int i = first; i < grown.length; i++) {
      try {
        grown[i].arena().free();
      } catch (Throwable e) {
        free(i + 1);
        throw e;
      }
    }
  }

  Stream<Arena> arenas() {
    return Arrays.stream(all).map(Grown::arena);
  }

  int count() {
    return all.length;
  }

  /** What all of them have reserved. */
  long bytes() {
    return bytes;
  }
}
