package io.prmalloc.plan.exact;

import java.util.Arrays;

/**
 * A number per section, with sums over and minima of runs of sections.
 *
 * <p>Threading: not safe.
 */
final class Room {

  // Sections come in blocks of 64. A block keeps what was added to all of it apart, and the least
  // of its numbers, so a run costs its two ends and a step per block between.

  private static final int SHIFT = 6;
  private static final int BLOCK = 1 << SHIFT;

  private final long[] values;
  private final long[] added;
  private final long[] least;

  Room(long[] initial) {
    values = initial.clone();
    added = new long[(values.length + BLOCK - 1) >> SHIFT];
    least = new long[added.length];
    for (int block = 0; block < least.length; block++) {
      findLeast(block);
    }
  }

  private void findLeast(int block) {
    long min = Long.MAX_VALUE;
    int end = Math.min(values.length, (block + 1) << SHIFT);
    for (int i = block << SHIFT; i < end; i++) {
      min = Math.min(min, values[i]);
    }
    least[block] = min + added[block];
  }

  long at(int section) {
    return values[section] + added[section >> SHIFT];
  }

  /** Adds to all sections of a run, both ends included. */
  void add(int first, int last, long amount) {
    int firstBlock = first >> SHIFT;
    int lastBlock = last >> SHIFT;
    if (firstBlock == lastBlock) {
      addInBlock(firstBlock, first, last, amount);
      return;
    }
    addInBlock(firstBlock, first, (firstBlock << SHIFT) + BLOCK - 1, amount);
    for (int block = firstBlock + 1; block < lastBlock; block++) {
      added[block] += amount;
      least[block] += amount;
    }
    addInBlock(lastBlock, lastBlock << SHIFT, last, amount);
  }

  private void addInBlock(int block, int first, int last, long amount) {
    for (int i = first; i <= last; i++) {
      values[i] += amount;
    }
    findLeast(block);
  }

  /** The least number of a run, both ends included. */
  long min(int first, int last) {
    int firstBlock = first >> SHIFT;
    int lastBlock = last >> SHIFT;
    if (firstBlock == lastBlock) {
      return minInBlock(firstBlock, first, last);
    }
    long min = minInBlock(firstBlock, first, (firstBlock << SHIFT) + BLOCK - 1);
    for (int block = firstBlock + 1; block < lastBlock; block++) {
      min = Math.min(min, least[block]);
    }
    return Math.min(min, minInBlock(lastBlock, lastBlock << SHIFT, last));
  }

  private long minInBlock(int block, int first, int last) {
    long min = Long.MAX_VALUE;
    for (int i = first; i <= last; i++) {
      min = Math.min(min, values[i]);
    }
    return min + added[block];
  }

  @Override
  public String toString() {
    return "Room" + Arrays.toString(values);
  }
}
