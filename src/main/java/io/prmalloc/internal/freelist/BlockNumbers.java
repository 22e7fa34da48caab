package io.prmalloc.internal.freelist;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.toList;

import io.prmalloc.internal.block.Stripes;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;

/**
 * Numbers the chunks of an arena. The number determines the word and bit that note a chunk.
 *
 * <p>Threading: immutable.
 */
public final class BlockNumbers {

  // Numbers ascend with the size. A bin that does not fit in what is left of a word begins with the
  // next, so that it is all in one if it can be; the numbers left out belong to no block.
  //
  // Where there are several shares, each has words of its own in which all bins lie as in the
  // others' words: a stripe with one share finds its blocks as close to each other as if there were
  // no other share.

  /** Blocks that shares would spread over more words are not divided: each stripe has them all. */
  private static final int MOST_WORDS = 64;

  /** By number; null if no block has it. */
  private final PooledBlock[] blocks;

  private final int shares;

  /** How many words a share has. */
  private final int words;

  /**
   * @param chunks smallest first, those of a bin together
   * @param threads how many are to have a share of their own, from 1, if that can be
   * @param stripes the most that can have one
   */
  BlockNumbers(List<PooledBlock> chunks, int threads, Stripes stripes) {
    Collection<List<PooledBlock>> bins =
        chunks.stream()
            .collect(groupingBy(PooledBlock::bin, LinkedHashMap::new, toList()))
            .values();
    int[] counts = bins.stream().mapToInt(List::size).toArray();
    this.shares = shares(counts, threads, stripes);
    this.words = words(counts, shares);
    this.blocks = new PooledBlock[shares * words * Long.SIZE];
    int next = 0;
    for (List<PooledBlock> bin : bins) {
      int each = bin.size() / shares;
      next = first(next, each);
      for (int i = 0; i < bin.size(); i++) {
        blocks[i / each * words * Long.SIZE + next + i % each] = bin.get(i);
      }
      next += each;
    }
  }

  /**
   * How many shares there are: one for each thread, but only one if some bin cannot be divided by
   * them, if they are more than there are stripes, or if all shares together would have more than
   * {@value #MOST_WORDS} words.
   *
   * @param counts how many blocks each bin has, in ascending order of size
   */
  public static int shares(int[] counts, int threads, Stripes stripes) {
    boolean divide =
        threads <= stripes.count()
            && Arrays.stream(counts).allMatch(count -> count % threads == 0)
            && (long) threads * words(counts, threads) <= MOST_WORDS;
    return divide ? threads : 1;
  }

  /** The word that a number's bit is in. */
  public static int wordAt(int number) {
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

  private static int words(int[] counts, int shares) {
    int next = 0;
    for (int count : counts) {
      next = first(next, count / shares) + count / shares;
    }
    return wordAt(next + Long.SIZE - 1);
  }

  /** The first number from one on that so many blocks can have. */
  private static int first(int next, int count) {
    int used = next % Long.SIZE;
    return used > 0 && used + count > Long.SIZE ? next + Long.SIZE - used : next;
  }

  /** Tells each chunk its number, and where it is noted when it is free. */
  void noteIn(FreeIndex where) {
    for (int number = 0; number < blocks.length; number++) {
      if (blocks[number] != null) {
        blocks[number].notedIn(where, number);
      }
    }
  }

  /** By number; null if no block has it. Whole words. */
  PooledBlock[] blocks() {
    return blocks;
  }

  /** How many shares there are, at least 1. */
  public int shares() {
    return shares;
  }

  /** How many words a share has, each as many. */
  int words() {
    return words;
  }
}
