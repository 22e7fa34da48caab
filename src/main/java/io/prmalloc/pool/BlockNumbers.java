package io.prmalloc.pool;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.toList;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;

/**
 * Numbers the chunks of an arena, and so says in which words of bits they are noted.
 *
 * <p>Threading: immutable.
 */
final class BlockNumbers {

  // Numbers ascend with the size. A bin that does not fit in what is left of a word begins with the
  // next, so that it is all in one if it can be; the numbers left out are nobody's.
  //
  // Where there are several shares, each has words of its own in which all bins lie as in the
  // others' words: who has one share finds its blocks as near each other as if there were no other.

  /** By number; null where none has it. */
  private final PooledBlock[] blocks;

  private final int shares;

  /** How many words a share has. */
  private final int words;

  /**
   * @param chunks smallest first, those of a bin together
   * @param where they are noted when they come home
   * @param threads how many are to have a share of their own, from 1; there is but one share if the
   *     bins cannot be divided by this
   * @param mostWords there is but one share, too, if all together would take more words than this
   */
  BlockNumbers(List<PooledBlock> chunks, ReadyBlocks where, int threads, int mostWords) {
    Collection<List<PooledBlock>> bins =
        chunks.stream()
            .collect(groupingBy(PooledBlock::bin, LinkedHashMap::new, toList()))
            .values();
    boolean divide =
        bins.stream().allMatch(bin -> bin.size() % threads == 0)
            && (long) threads * words(bins, threads) <= mostWords;
    this.shares = divide ? threads : 1;
    this.words = words(bins, shares);
    this.blocks = new PooledBlock[shares * words * Long.SIZE];
    int next = 0;
    for (List<PooledBlock> bin : bins) {
      int each = bin.size() / shares;
      next = first(next, each);
      for (int i = 0; i < bin.size(); i++) {
        int number = i / each * words * Long.SIZE + next + i % each;
        blocks[number] = bin.get(i);
        blocks[number].readyIn(where, number);
      }
      next += each;
    }
  }

  /** The word that a number's bit is in. */
  static int wordAt(int number) {
    return number >>> 6;
  }

  /** The bits of a word that are of the numbers from one to another. */
  static long maskOf(int word, int first, int last) {
    long mask = -1L;
    if (word == wordAt(first)) {
      mask &= -1L << first;
    }
    if (word == wordAt(last)) {
      mask &= -1L >>> -(last + 1);
    }
    return mask;
  }

  private static int words(Collection<List<PooledBlock>> bins, int shares) {
    int next = 0;
    for (List<PooledBlock> bin : bins) {
      next = first(next, bin.size() / shares) + bin.size() / shares;
    }
    return wordAt(next + Long.SIZE - 1);
  }

  /** The first number from one on that so many blocks can have. */
  private static int first(int next, int count) {
    int used = next % Long.SIZE;
    return used > 0 && used + count > Long.SIZE ? next + Long.SIZE - used : next;
  }

  /** By number; null where none has it. Whole words. */
  PooledBlock[] blocks() {
    return blocks;
  }

  /** How many shares there are, at least 1. */
  int shares() {
    return shares;
  }

  /** How many words a share has, each as many. */
  int words() {
    return words;
  }
}
